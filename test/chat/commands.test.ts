import { expect, it } from 'vitest';
import { readCommand } from '../../examples/chat/commands.ts';

it.each([
  ['  ', { name: 'nothing' }],
  ['Hello.', { name: 'ask', text: 'Hello.' }],
  ['/compact', { name: 'compact', focus: undefined }],
  ['/compact  ', { name: 'compact', focus: undefined }],
  ['/compact the error ', { name: 'compact', focus: 'the error' }],
  ['/sessions', { name: 'sessions' }],
  ['/Help', { name: 'help' }],
  ['/sign-in now', { name: 'unknown', text: '/sign-in' }],
  ['/comp', { name: 'unknown', text: '/comp' }],
  ['/usr/bin is a folder', { name: 'ask', text: '/usr/bin is a folder' }],
])('K24: %j is read', (line, command) => {
  expect(readCommand(line)).toEqual(command);
});
