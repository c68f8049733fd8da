/** What the name of a tool says that it does. */
export interface ToolVerb {
  kind: 'look' | 'write' | 'run';
  moves: boolean;
  deletes: boolean;
  searches: boolean;
  patches: boolean;
  /** Its input is a command. */
  shell: boolean;
}

const writing = new Set(
  'write writefile edit editfile multiedit create insert append prepend replace patch update save overwrite put delete remove undo move rename copy'.split(
    ' ',
  ),
);
const moving = new Set(['move', 'rename', 'copy']);
const deleting = new Set(['delete', 'remove']);
const looking = new Set(
  'read readfile view open cat get webfetch websearch show display load fetch list ls describe think calculate'.split(' '),
);
const searching = new Set('grep search find glob query lookup rg'.split(' '));

const shells = new Set('bash sh zsh shell terminal console exec execute run command cmd powershell'.split(' '));

/**
 * The first word of the name that is a known verb: `read` of `mcp__files__read_file`, `edit` of `notebookEdit`, `replace` of
 * `str_replace`. A name without one is an action.
 */
export function readToolVerb(name: string): ToolVerb {
  const words = name
    .slice(0, 200)
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z]+/);
  const verb = words.find((word) => writing.has(word) || looking.has(word) || searching.has(word));
  const searches = verb !== undefined && searching.has(verb);
  return {
    kind: verb === undefined ? 'run' : writing.has(verb) ? 'write' : 'look',
    moves: verb !== undefined && moving.has(verb),
    deletes: verb !== undefined && deleting.has(verb),
    searches,
    patches: words.includes('patch') || words.includes('diff'),
    shell: words.some((word) => shells.has(word)),
  };
}
