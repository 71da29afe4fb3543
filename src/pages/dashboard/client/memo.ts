// A component that is drawn again only when its properties change.
import { Component, type ComponentChild, type FunctionComponent, h } from 'preact';

/** The component, drawn again only when one of its properties is another value. */
export function memo<Props extends object>(draw: (props: Props) => ComponentChild): FunctionComponent<Props> {
  class Memo extends Component<Props> {
    override shouldComponentUpdate(next: Readonly<Props>): boolean {
      return (Object.keys(next) as (keyof Props)[]).some((name) => next[name] !== (this.props as Props)[name]);
    }
    override render(): ComponentChild {
      return draw(this.props as Props);
    }
  }
  return (props) => h(Memo as never, props as never);
}
