import { testOf } from './question.ts';

/** What the scripted model is shown: the text of the request it received, and what the tools of its last turn returned. */
export interface ReceivedText {
  all: string;
  lastResults: readonly string[];
  /** Names of the tools that it may call. */
  tools: readonly string[];
}

export interface ScriptedCall {
  id: string;
  name: string;
  input: { path?: string; text?: string };
}

export interface ScriptedReply {
  text: string;
  calls: readonly ScriptedCall[];
}

/** How many files it reads after the facts are found. */
const filesToRead = 34;

/**
 * A model whose decisions are fixed: which tool comes next follows from the number of turns it has made. It notes a fact when it
 * sees it, in words or with a tool for that where it is given one, and its answer quotes the notes that it finds in the request it was
 * sent, and nothing else.
 */
export function createScriptedModel(): (received: ReceivedText) => ScriptedReply {
  let turn = 0;
  let calls = 0;
  let listing = '';
  let reading: string[][] = [];

  return ({ all, lastResults, tools }) => {
    turn += 1;
    const [result = ''] = lastResults.filter((text) => !text.startsWith('Noted:'));
    const call = (name: string, path: string, text?: string): ScriptedCall => ({
      id: `call_${++calls}`,
      name,
      input: text === undefined ? { path } : { text, path },
    });
    const note = (fact: string, next: ScriptedCall): ScriptedReply => {
      const text = `Noted: ${fact}.`;
      return tools.includes('note')
        ? { text: '', calls: [next, { id: `call_${++calls}`, name: 'note', input: { text } }] }
        : { text, calls: [next] };
    };
    const noted = readNotes(all);

    if (turn === 1) return { text: 'I begin with an overview of the source files.', calls: [call('list', 'src')] };
    if (turn === 2) {
      listing = result;
      return { text: 'Now the definition.', calls: [call('grep', 'src', 'export function contextBudget')] };
    }
    if (turn === 3) {
      const file = result.slice(0, result.indexOf(':'));
      reading = planReading(listing, file);
      return note(`contextBudget is defined in ${file}`, call('grep', file, 'margin'));
    }
    if (turn === 4) {
      const margin = /\b\d[\d_,]{3,}\b/.exec(result)?.[0] ?? 'not found';
      return note(`the smallest safety margin is ${margin} tokens`, call('run_test', testOf(noted.file)));
    }
    if (turn === 5) {
      const outcome = result.split('\n')[0] ?? '';
      return note(`the test ${outcome}`, call('list', 'test'));
    }
    const files = reading[turn - 6];
    if (files) {
      const text = `I read on in ${files.join(' and ')}.`;
      return { text, calls: files.map((file) => call('read', file)) };
    }
    return { text: answerFrom(noted), calls: [] };
  };
}

interface Notes {
  file: string;
  margin: string;
  test: string;
}

/** The notes, wherever in the request they stand. */
function readNotes(text: string): Notes {
  return {
    file: /contextBudget is defined in (\S+\.ts)/.exec(text)?.[1] ?? 'unknown',
    margin: /smallest safety margin is (\d[\d_,]*)/.exec(text)?.[1] ?? 'unknown',
    test: /the test (\S+\.test\.ts \w+: \d+ passed, \d+ failed)/.exec(text)?.[1] ?? 'unknown',
  };
}

function answerFrom({ file, margin, test }: Notes): string {
  return `1. contextBudget is defined in ${file}.\n2. Its smallest safety margin is ${margin} tokens.\n3. ${test}.`;
}

/** The largest files of a listing but the one that the notes come from; every third turn reads two at once. */
function planReading(listing: string, known: string): string[][] {
  const files = [...listing.matchAll(/^(\S+) (\d+)$/gm)].map(([, path = '', size]) => ({ path, size: Number(size) }));
  files.sort((left, right) => right.size - left.size || (left.path < right.path ? -1 : 1));
  const turns: string[][] = [];
  const paths = files.map((file) => file.path).filter((path) => path !== known);
  const chosen = paths.slice(0, filesToRead);
  for (let index = 0; index < chosen.length; ) {
    const count = turns.length % 3 === 2 ? 2 : 1;
    turns.push(chosen.slice(index, index + count));
    index += count;
  }
  return turns;
}
