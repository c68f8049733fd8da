import { clearScreenDown, createInterface, cursorTo, type Interface, moveCursor } from 'node:readline';
import type { ReadStream, WriteStream } from 'node:tty';
import { styleText } from 'node:util';
import { foldLines } from './fold-lines.ts';
import { beginPasteMode, endPasteMode, openKeyboard, readEdited } from './keyboard.ts';
import { type ChatControls, type ChatStatus, type ChatView, type Tone, withoutControls } from './view.ts';

export interface Terminal extends ChatView {
  /** Begins to listen to the keys. */
  listen(controls: ChatControls): void;
  /** Gives the terminal back. */
  close(): void;
}

/** Terminals that know it show what is between these at once, and do not flicker. */
const beginFrame = '\x1b[?2026h';
const endFrame = '\x1b[?2026l';
const promptSign = '> ';
/** Where a terminal does not tell. */
const usualColumns = 80;

/**
 * A terminal whose lowest lines are alive: the line that the model is writing, the status, and the input, which can be edited while
 * something runs. All of it is the prompt of `node:readline`; what is finished is printed above it.
 */
export function openTerminal(input: ReadStream, output: WriteStream): Terminal {
  const keyboard = openKeyboard(input);
  // A short wait tells Esc from the keys that begin with it.
  const editor = createInterface({ input: keyboard.keys, output, terminal: true, escapeCodeTimeout: 50, prompt: '' });
  const plain = process.env.NO_COLOR !== undefined;
  const colour = (text: string, tone: Tone): string => (plain || text === '' ? text : paint(text, tone));
  let open = true;
  let unfinished = '';
  let status = '';
  let isIdle = true;

  /** Prints above the living lines and draws these anew. */
  function draw(lines: readonly string[], prompt = livingLines()): void {
    const above = lines.map((line) => `${line}\n`).join('');
    if (!open) return void output.write(above);
    const { rows } = editor.getCursorPos();
    output.write(beginFrame);
    moveCursor(output, 0, -rows);
    cursorTo(output, 0);
    clearScreenDown(output);
    output.write(above + '\n'.repeat(rowsGoneUp(editor, rows)));
    editor.setPrompt(prompt);
    editor.prompt(true);
    output.write(endFrame);
  }

  function livingLines(): string {
    const lines = [unfinished, status].filter((line) => line !== '');
    return [...lines, colour(promptSign, 'good')].join('\n');
  }

  function fold(text: string): ReturnType<typeof foldLines> {
    return foldLines(text.replaceAll('\t', '    '), Math.max(1, (output.columns || usualColumns) - 1));
  }

  function finishLine(): string[] {
    const lines = unfinished === '' ? [] : [unfinished];
    unfinished = '';
    return lines;
  }

  return {
    write(text) {
      const { lines, rest } = fold(unfinished + withoutControls(text));
      unfinished = rest;
      draw(lines);
    },
    line(text, tone = 'plain') {
      const { lines, rest } = fold(withoutControls(text));
      draw([...finishLine(), ...[...lines, rest].map((line) => colour(line, tone))]);
    },
    show(next) {
      status = describeStatus(next, colour);
      isIdle = next.activity === 'idle';
      draw(isIdle ? finishLine() : []);
    },
    listen({ submit, cancel, interrupt, end }) {
      const begin = (): void => {
        output.write(beginPasteMode);
        draw([]);
      };
      // Before the editor draws: lines that are broken anew take more rows, or fewer.
      output.prependListener('resize', () => open && draw([]));
      editor.on('line', (line) => {
        void submit(readEdited(line));
        draw([]);
      });
      editor.on('SIGCONT', begin);
      keyboard.listen(editor, {
        enter() {
          // Before the editor takes the line: the status is not left behind above what was typed.
          draw([], colour(promptSign, 'good'));
          return false;
        },
        escape() {
          cancel();
          return true;
        },
        interrupt() {
          if (isIdle && editor.line !== '') clearLine(editor);
          else interrupt();
          return true;
        },
        end() {
          const isEmpty = editor.line === '';
          if (isEmpty) end();
          return isEmpty; // else it deletes the next character
        },
      });
      begin();
    },
    close() {
      draw(finishLine(), '');
      open = false;
      editor.close();
      output.write(`${endPasteMode}\n`);
    },
  };
}

function clearLine(editor: Interface): void {
  editor.write(null, { ctrl: true, name: 'e' });
  editor.write(null, { ctrl: true, name: 'u' });
}

/** How far the editor moves up before it draws: by the rows that it remembers, which are too few after a paste. */
function rowsGoneUp(editor: Interface, rows: number): number {
  const remembered: unknown = Reflect.get(editor, 'prevRows');
  return typeof remembered === 'number' ? remembered : rows;
}

function describeStatus({ activity, waiting, meter }: ChatStatus, colour: (text: string, tone: Tone) => string): string {
  const waits = waiting > 0 ? ` · ${waiting} waiting` : '';
  if (activity === 'idle') return colour(meter.text, meter.tone);
  if (activity === 'working') return colour(`Working... Ctrl+C stops${waits}`, 'quiet');
  return colour(`Compacting... Esc cancels${waits}`, 'warning');
}

function paint(text: string, tone: Tone): string {
  const formats = { plain: 'reset', quiet: 'dim', good: 'cyan', warning: 'yellow', error: 'red' } as const;
  return styleText(formats[tone], text);
}
