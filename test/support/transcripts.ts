import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { loadClaudeCode } from './transcripts/claude-code.ts';
import { loadGeminiCli } from './transcripts/gemini-cli.ts';
import { loadMiniSweAgent, loadSweAgent, loadTauBench } from './transcripts/openai-chat.ts';
import { loadOpenCode } from './transcripts/opencode.ts';
import { loadOpenHands } from './transcripts/openhands.ts';
import { loadPi } from './transcripts/pi.ts';
import { loadPlugsuits } from './transcripts/plugsuits.ts';
import type { Conversation, Loader } from './transcripts/recording.ts';

const manifest = z.array(z.object({ source: z.string(), file: z.string(), shape: z.string() }));

const loaders: Record<string, Loader> = {
  'claude-code-jsonl': loadClaudeCode,
  'gemini-cli-json': loadGeminiCli,
  'openai-chat-miniswe': loadMiniSweAgent,
  'openai-chat-swe-traj': loadSweAgent,
  'openai-chat-tau': loadTauBench,
  'opencode-export-json': loadOpenCode,
  'openhands-events-json': loadOpenHands,
  'pi-session-jsonl': loadPi,
  'plugsuits-events-jsonl': loadPlugsuits,
};

/**
 * The recorded conversations of a folder, in the order of its manifest: of `TRANSCRIPTS`, else of the folder beside the checkout.
 * Empty where there is no such folder, so callers print how many they ran.
 */
export function loadConversations(folder: string = transcriptsFolder()): Conversation[] {
  const index = join(folder, 'manifest.json');
  if (!existsSync(index)) return [];
  return manifest.parse(JSON.parse(readFileSync(index, 'utf8'))).map(({ file, shape, source }) => {
    const load = loaders[shape];
    if (!load) throw new Error(`Shape ${shape} of ${file}, expected one of ${Object.keys(loaders).join(', ')}`);
    return { name: file, source, ...load(readFileSync(join(folder, file), 'utf8')) };
  });
}

function transcriptsFolder(): string {
  return process.env.TRANSCRIPTS ?? fileURLToPath(new URL('../../../shared/transcripts', import.meta.url));
}
