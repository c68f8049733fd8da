import { describe, isAbsent, isRecord, type Report } from '../report.ts';
import { fieldsOf, holds, type WireContent, type WirePart } from './read-request.ts';

/** All calls of a turn of the model are answered by as many results in the next content. */
export function checkCalls(contents: readonly WireContent[], report: Report): void {
  let calls: WirePart[] = [];
  contents.forEach((content, index) => {
    const { kind, parts } = content;
    if (kind === 'model') {
      // Adjacent contents of the model are one turn.
      if (contents[index - 1]?.kind !== 'model') calls = [];
      const own = parts.filter((part) => holds(part, 'functionCall'));
      calls.push(...own);
      for (const call of own) checkCall(call, report);
      if (calls.length > 0 && contents[index + 1]?.kind === 'user')
        report('call-unanswered', content.path, 'Expected the results of its calls in the next content.');
      return;
    }
    const results = parts.filter((part) => holds(part, 'functionResponse'));
    for (const result of results) checkResult(result, report);
    if (results.length !== calls.length && results.length > 0)
      report('result-count', content.path, `Expected ${calls.length} results for ${calls.length} calls, got ${results.length}.`);
    for (const result of findStrangers(calls, results))
      report('result-orphan', result.path, 'Expected the result of a call in the turn before it.');
    calls = [];
  });
}

function checkCall(part: WirePart, report: Report): void {
  const { name, args } = fieldsOf(part, 'functionCall');
  if (typeof name !== 'string' || name === '')
    report('call-name', `${part.path}.functionCall.name`, `Expected the name of a function, got ${describe(name)}.`);
  if (!isAbsent(args) && !isRecord(args))
    report('call-arguments', `${part.path}.functionCall.args`, `Expected an object, got ${describe(args)}.`);
}

function checkResult(part: WirePart, report: Report): void {
  const { name, response } = fieldsOf(part, 'functionResponse');
  if (typeof name !== 'string' || name === '')
    report('result-name', `${part.path}.functionResponse.name`, `Expected the name of a function, got ${describe(name)}.`);
  if (!isRecord(response))
    report('result-type', `${part.path}.functionResponse.response`, `Expected an object, got ${describe(response)}.`);
}

/** Results that belong to none of the calls: by id where both have one, otherwise by the name of the function. */
function findStrangers(calls: readonly WirePart[], results: readonly WirePart[]): WirePart[] {
  const open = calls.map((call) => fieldsOf(call, 'functionCall'));
  const take = (fits: (call: Record<string, unknown>) => boolean): boolean => {
    const index = open.findIndex(fits);
    if (index !== -1) open.splice(index, 1);
    return index !== -1;
  };
  const unmatched = results.filter((result) => {
    const { id } = fieldsOf(result, 'functionResponse');
    return isAbsent(id) || !take((call) => call.id === id);
  });
  return unmatched.filter((result) => {
    const { id, name } = fieldsOf(result, 'functionResponse');
    return !take((call) => call.name === name && (isAbsent(id) || isAbsent(call.id)));
  });
}
