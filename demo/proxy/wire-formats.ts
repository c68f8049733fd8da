import { anthropicMessages } from 'context-compactor/anthropic';
import { bedrockConverse } from 'context-compactor/bedrock';
import { geminiContents } from 'context-compactor/google-genai';
import { openaiChat } from 'context-compactor/openai-chat';
import { openaiCodex } from 'context-compactor/openai-codex';
import { openaiResponses } from 'context-compactor/openai-responses';
import {
  anthropicRefusals,
  bedrockRefusals,
  chatRefusals,
  codexRefusals,
  geminiRefusals,
  responsesRefusals,
} from './refusals.ts';
import { defineWireFormat, type WireFormat } from './wire-format.ts';

const formats: readonly WireFormat[] = [
  defineWireFormat('openai-chat', openaiChat(), /\/chat\/completions$/, chatRefusals),
  // Its path ends like that of the Responses API.
  defineWireFormat('openai-codex', openaiCodex(), /\/codex\/responses$/, codexRefusals),
  defineWireFormat('openai-responses', openaiResponses(), /\/responses$/, responsesRefusals),
  defineWireFormat('anthropic', anthropicMessages(), /\/messages$/, anthropicRefusals),
  defineWireFormat('bedrock', bedrockConverse(), /\/model\/(?<modelId>[^/]+)\/converse(?:-stream)?$/, bedrockRefusals),
  defineWireFormat(
    'google-genai',
    geminiContents(),
    /\/models\/(?<model>[^/:]+):(?:generateContent|streamGenerateContent)$/,
    geminiRefusals,
  ),
];

/** The format of a request by its path, and the fields of the request that stand there; undefined for what goes to no model. */
export function findFormat(path: string): { format: WireFormat; fields: Record<string, string> } | undefined {
  for (const format of formats) {
    const found = format.endpoint.exec(path);
    if (!found) continue;
    const fields = Object.entries(found.groups ?? {}).map(([name, value]) => [name, decodeURIComponent(value)]);
    return { format, fields: Object.fromEntries(fields) };
  }
  return undefined;
}
