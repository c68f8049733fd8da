import type { Writable } from 'node:stream';
import { type ChatView, withoutControls } from './view.ts';

/**
 * A view without colours and without a cursor that moves: for pipes and files.
 *
 * Its functions throw where nobody reads any more, so that nothing is asked for nobody.
 */
export function createPlainOutput(output: Writable): ChatView {
  let isLineOpen = false;
  let shown = '';

  function put(text: string): void {
    if (text === '') return;
    if (!output.writable) throw new Error('Nobody reads the output any more.');
    output.write(text);
    isLineOpen = !text.endsWith('\n');
  }

  function line(text: string): void {
    put(`${isLineOpen ? '\n' : ''}${withoutControls(text)}\n`);
  }

  return {
    write: (text) => put(withoutControls(text)),
    line,
    show({ activity, meter }) {
      const text = { idle: `[${meter.text}]`, working: '', compacting: 'Compacting...' }[activity];
      if (text !== '' && text !== shown) line(text);
      shown = text;
    },
  };
}
