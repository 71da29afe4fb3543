import { builder } from '../builder.ts';
import { GexFiguresMetaType } from '../gex/figures.ts';
import { FlowCoverageType } from './flow.ts';

builder.objectField(GexFiguresMetaType, 'flowCoverage', (t) =>
  t.expose('flowCoverage', {
    type: FlowCoverageType,
    nullable: true,
    description:
      'Observed part of the session whose bought and sold contracts are counted. Null unless sign is by_flow and they are known.',
  }),
);
