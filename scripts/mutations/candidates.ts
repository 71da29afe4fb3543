import { type Node, type SourceFile, SyntaxKind } from 'typescript-compiler/unstable/ast';
import * as is from 'typescript-compiler/unstable/ast/is';

/** One change of the source: the text from `start` up to `end` becomes `after`. */
export interface Edit {
  kind: string;
  start: number;
  end: number;
  after: string;
  /** The expression or statement around it, to print. */
  from: number;
  to: number;
}

// Pairs of tokens that are swapped.
const operators = '< <= > >= + - * / += -= && || === !=='.split(' ');
const methods = 'min max some every floor ceil'.split(' ');

function neighbour(words: readonly string[], word: string): string | undefined {
  const at = words.indexOf(word);
  return at < 0 ? undefined : words[at ^ 1];
}

/** True if it ends the function or the iteration of the loop that contains it. */
function isExit(statement: Node): boolean {
  if (is.isBlock(statement)) return statement.statements.length === 1 && isExit(statement.statements[0]!);
  return [SyntaxKind.ReturnStatement, SyntaxKind.ThrowStatement, SyntaxKind.ContinueStatement].includes(statement.kind);
}

/** Types, imports, errors and lines of the log: no figure and no decision is made there. */
function isSkipped(node: Node): boolean {
  const skipped = [is.isInterfaceDeclaration, is.isTypeAliasDeclaration, is.isImportDeclaration, is.isThrowStatement];
  const isLog = is.isCallExpression(node) && node.expression.getText() === 'log';
  return is.isTypeNode(node) || isLog || is.isExportDeclaration(node) || skipped.some((isOne) => isOne(node));
}

/** Every edit of the node itself, not of those inside it. */
function* editsOf(node: Node): Generator<Edit> {
  const [from, to] = [node.getStart(), node.end];
  const edit = (kind: string, of: Node, after: string): Edit => {
    return { kind, start: of.getStart(), end: of.end, after, from, to };
  };
  if (is.isBinaryExpression(node)) {
    const other = neighbour(operators, node.operatorToken.getText());
    if (other) yield edit('operator', node.operatorToken, other);
  } else if (is.isNumericLiteral(node)) {
    const value = Number(node.text);
    const isName = is.isPropertyAssignment(node.parent) && node.parent.name === node;
    if (Number.isSafeInteger(value) && !isName)
      yield edit('constant', node, String(value === 0 || from % 2 === 0 ? value + 1 : value - 1));
  } else if (node.kind === SyntaxKind.TrueKeyword) yield edit('boolean', node, 'false');
  else if (node.kind === SyntaxKind.FalseKeyword) yield edit('boolean', node, 'true');
  else if (is.isIfStatement(node)) {
    if (isExit(node.thenStatement) && !node.elseStatement) yield edit('early exit removed', node, '{}');
    else yield edit('condition forced', node.expression, String(from % 2 === 0));
  } else if (is.isConditionalExpression(node)) yield edit('condition forced', node.condition, String(from % 2 === 0));
  else if (is.isPrefixUnaryExpression(node) && node.operator === SyntaxKind.ExclamationToken)
    yield edit('negation removed', node, node.operand.getText());
  else if (is.isReturnStatement(node) && node.expression) yield edit('null returned', node.expression, 'null');
  else if (is.isArrowFunction(node) && !is.isBlock(node.body)) yield edit('null returned', node.body, 'null');
  else if (is.isPropertyAssignment(node)) yield edit('null for a value', node.initializer, 'null');
  else if (is.isExpressionStatement(node) && !isSkipped(node.expression)) yield edit('statement removed', node, '{}');
  else if (is.isCallExpression(node) && is.isPropertyAccessExpression(node.expression)) {
    const { name } = node.expression;
    if (/^(?:sort|toSorted)$/.test(name.text)) yield edit('order reversed', node, `${node.getText()}.reverse()`);
    const other = neighbour(methods, name.text);
    if (other) yield edit('method', name, other);
  }
}

/** Every edit that the rules of this file make in a source file, in the order of the text. */
export function candidatesOf(source: SourceFile): Edit[] {
  const found: Edit[] = [];
  const visit = (node: Node): void => {
    if (isSkipped(node)) return;
    for (const edit of editsOf(node)) if (source.text.slice(edit.start, edit.end) !== edit.after) found.push(edit);
    node.forEachChild(visit);
  };
  source.forEachChild(visit);
  return found;
}
