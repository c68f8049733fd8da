import type { Conversation } from './conversation.ts';
import type { Entry } from './fit-sections.ts';
import { clip, toOneLine } from './line-text.ts';

/** What is known of the files: each written path has an entry that must stay. */
export interface FileActivity {
  entries: Entry[];
  /** Written paths that earlier summaries had to leave out. */
  omitted: number;
}

const longestPath = 1_024;
/** A short form has at most so many parts. */
const mostParts = 32;
const ownForm = /^(.+) \((written|deleted|read)\)$/;
const omission = /^\((\d+) more written paths? left out\)$/;

interface FileState {
  state: 'read' | 'written' | 'deleted';
  at: number;
  /** A line of an earlier summary that another summarizer wrote. */
  note?: string;
}

export function listFiles({ earlier, uses, messageCount }: Conversation): FileActivity {
  const files = new Map<string, FileState>();
  let omitted = 0;
  const touch = (path: string, state: FileState['state'], at: number, note?: string) => {
    const known = files.get(path);
    // Set anew, so that the order of the map is the order of the last activity.
    files.delete(path);
    const kept = note ?? known?.note;
    const latest = state === 'read' && known ? known.state : state;
    files.set(path, { state: latest, at, ...(kept === undefined ? {} : { note: kept }) });
  };
  for (const line of earlier['Relevant Files']) {
    const left = omission.exec(line);
    const own = ownForm.exec(line);
    if (left) omitted += Number(left[1]);
    else if (own?.[1] !== undefined) touch(own[1], own[2] === 'written' || own[2] === 'deleted' ? own[2] : 'read', -1);
    else touch(pathIn(line), tellsOfWriting(line) ? 'written' : 'read', -1, line);
  }
  for (const use of uses) {
    for (const path of use.read) touch(toPath(path), 'read', use.at);
    const deleted = new Set(use.deleted);
    for (const path of use.written) touch(toPath(path), deleted.has(path) ? 'deleted' : 'written', use.at);
  }
  dropShortForms(files);
  const entries = [...files].map(
    ([path, { state, at, note }]): Entry => ({
      at,
      text: note ?? `${path} (${state})`,
      rank: (state === 'read' ? 1 : 10) + (at + 1) / (messageCount + 1) + (note === undefined ? 0 : 3),
      ...(state === 'read' ? {} : { must: 'path' }),
    }),
  );
  return { entries, omitted };
}

function toPath(path: string): string {
  return clip(toOneLine(path), longestPath);
}

function pathIn(line: string): string {
  return /`([^`]+)`/.exec(line)?.[1] ?? /(?:[\w@~.-]*[/\\])+[\w@.()[\]-]+|\b[\w-]+\.\w{1,5}\b/.exec(line)?.[0] ?? line;
}

function tellsOfWriting(line: string): boolean {
  return /\b(?:written|wrote|edit|edited|created?|modified|changed|added|updated|deleted|removed|renamed|moved|new file|fixed|implemented)\b/i.test(
    line,
  );
}

/** `src/a.ts` goes where `/repo/src/a.ts` stands: the long form holds the short one. */
function dropShortForms(files: Map<string, FileState>): void {
  const endings = new Map<string, string>();
  for (const path of files.keys())
    if (path.startsWith('/'))
      for (let at = path.lastIndexOf('/'), parts = 0; at > 0 && parts < mostParts; at = path.lastIndexOf('/', at - 1), parts++)
        endings.set(path.slice(at + 1), path);
  for (const [path, state] of files) {
    const long = endings.get(path);
    const longState = long === undefined ? undefined : files.get(long);
    if (long === undefined || !longState || state.note !== undefined || longState.note !== undefined) continue;
    if (longState.state === 'read' || (state.state !== 'read' && state.at > longState.at)) longState.state = state.state;
    longState.at = Math.max(longState.at, state.at);
    files.delete(path);
  }
}
