/** One simple command: its words without quotes, and the files that its output is redirected to. */
export interface ShellCommand {
  words: string[];
  redirectedTo: string[];
}

/**
 * Splits shell text into simple commands. Quotes, comments, here-documents and substitutions are passed over, so that what stands
 * in them is never taken for a redirection. Not a full shell: what it cannot read it skips. Linear.
 */
export function parseShell(text: string): ShellCommand[] {
  const commands: ShellCommand[] = [];
  let command: ShellCommand = { words: [], redirectedTo: [] };
  let word: string | undefined;
  let target: 'word' | 'file' | 'ignored' | 'heredoc' = 'word';
  let heredocs: string[] = [];
  let isCondition = false;
  let at = 0;

  const endWord = () => {
    if (word === undefined) return;
    if (target === 'word') {
      command.words.push(word);
      isCondition ||= word === '[[';
    } else if (target === 'file') command.redirectedTo.push(word);
    else if (target === 'heredoc') heredocs.push(word);
    word = undefined;
    target = 'word';
  };
  const endCommand = () => {
    endWord();
    target = 'word';
    isCondition = false;
    if (command.words.length > 0 || command.redirectedTo.length > 0) commands.push(command);
    command = { words: [], redirectedTo: [] };
  };

  while (at < text.length) {
    const character = text.charAt(at);
    if (character === '\\') {
      if (text[at + 1] !== '\n') word = (word ?? '') + text.slice(at + 1, at + 2);
      at += 2;
    } else if (character === "'") {
      const end = endOf(text, "'", at + 1);
      word = (word ?? '') + text.slice(at + 1, end);
      at = end + 1;
    } else if (character === '"') {
      const end = endOfDoubleQuotes(text, at + 1);
      word = (word ?? '') + text.slice(at + 1, end).replace(/\\(["\\$`])/g, '$1');
      at = end + 1;
    } else if (character === '`') {
      const end = endOf(text, '`', at + 1) + 1;
      word = (word ?? '') + text.slice(at, end);
      at = end;
    } else if (/^[$<>]\($/.test(text.slice(at, at + 2))) {
      const end = endOfParentheses(text, at + 2);
      word = (word ?? '') + text.slice(at, end);
      at = end;
    } else if (text.startsWith('((', at)) {
      at = endOfParentheses(text, at + 1);
    } else if (character === '\n') {
      endCommand();
      at++;
      for (const delimiter of heredocs) at = afterHeredoc(text, delimiter, at);
      heredocs = [];
    } else if (/\s/.test(character)) {
      endWord();
      at++;
    } else if (character === '#' && word === undefined) {
      at = endOf(text, '\n', at);
    } else if (character === '>' || text.startsWith('&>', at)) {
      // In `2>file` and `[[ a > b ]]` the digit is no word, and the second is no redirection.
      if (word !== undefined && /^\d$/.test(word)) word = undefined;
      endWord();
      const operator = /^&?>{1,2}[|&]?/.exec(text.slice(at, at + 4))?.[0] ?? '>';
      at += operator.length;
      const duplicates = operator.endsWith('&') && /^[\d-]/.test(text.slice(at, at + 1));
      target = duplicates ? 'ignored' : isCondition ? 'word' : 'file';
    } else if (character === '<') {
      endWord();
      const operator = /^<<<|^<<-?|^<[&>]?/.exec(text.slice(at, at + 3))?.[0] ?? '<';
      at += operator.length;
      target = operator.startsWith('<<') && operator !== '<<<' ? 'heredoc' : 'ignored';
    } else if (/[;&|()]/.test(character)) {
      endCommand();
      at++;
    } else {
      const end = endOfPlain(text, at);
      word = (word ?? '') + text.slice(at, end);
      at = end;
    }
  }
  endCommand();
  return commands;
}

const plainEnd = /[\\'"`$<>\s;&|()]/g;

function endOfPlain(text: string, start: number): number {
  plainEnd.lastIndex = start + 1;
  return plainEnd.exec(text)?.index ?? text.length;
}

function endOf(text: string, mark: string, start: number): number {
  const end = text.indexOf(mark, start);
  return end < 0 ? text.length : end;
}

function endOfDoubleQuotes(text: string, start: number): number {
  for (let at = start; at < text.length; at++) {
    if (text[at] === '\\') at++;
    else if (text[at] === '"') return at;
  }
  return text.length;
}

/** The position after the parenthesis that closes the one before `start`. */
function endOfParentheses(text: string, start: number): number {
  let depth = 1;
  for (let at = start; at < text.length; at++) {
    const character = text[at];
    if (character === '\\') at++;
    else if (character === "'") at = endOf(text, "'", at + 1);
    else if (character === '(') depth++;
    else if (character === ')' && --depth === 0) return at + 1;
  }
  return text.length;
}

function afterHeredoc(text: string, delimiter: string, start: number): number {
  for (let at = start; at < text.length; ) {
    const end = endOf(text, '\n', at);
    if (text.slice(at, Math.min(end, at + delimiter.length + 80)).trim() === delimiter) return end + 1;
    at = end + 1;
  }
  return text.length;
}
