import { checkBlocks } from './bedrock/blocks.ts';
import { checkCachePoints } from './bedrock/cache-points.ts';
import { checkDocuments } from './bedrock/documents.ts';
import { readMessages } from './bedrock/messages.ts';
import { checkOrder } from './bedrock/order.ts';
import { checkParameters } from './bedrock/parameters.ts';
import { checkReasoning } from './bedrock/reasoning.ts';
import { checkToolConfig } from './bedrock/tool-config.ts';
import { checkTools } from './bedrock/tools.ts';
import { isRecord, type Report } from './report.ts';
import { findLoneSurrogates } from './strings.ts';
import type { WireViolation } from './violation.ts';

/**
 * Every published rule of Converse that the input of a command breaks, also those that only some models have, by the name in `modelId`;
 * empty for an input that is taken. The input is the object that a command is made of: bytes are a `Uint8Array`.
 *
 * @example
 * validateBedrock({ modelId: 'anthropic.claude', messages: [] }).map(({ rule }) => rule); // ['no-messages']
 */
export function validateBedrock(input: unknown): WireViolation[] {
  const violations: WireViolation[] = [];
  const report: Report = (rule, path, message) => violations.push({ rule, path, message });
  if (!isRecord(input) || !Array.isArray(input.messages)) {
    report('invalid-input', 'messages', 'Expected an object with an array of messages.');
    return violations;
  }
  const model = typeof input.modelId === 'string' ? input.modelId : '';
  const messages = readMessages(input.messages, report);
  checkParameters(input, report);
  checkOrder(messages, report);
  checkBlocks(messages, report);
  checkDocuments(messages, report);
  checkTools(messages, model, report);
  checkToolConfig(input, messages, report);
  checkReasoning(input, messages, report);
  checkCachePoints(input, messages, report);
  return [...violations, ...findLoneSurrogates(input)];
}
