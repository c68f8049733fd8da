import { claudeEfforts } from '../../../adapters/claude-efforts.ts';
import { checkLevel } from '../check-level.ts';
import { describe, type Fields, isAbsent, isRecord, type Report } from '../report.ts';

/** What a request may not bring along where its model is a managed prompt, which has it. */
const partsOfPrompt = ['system', 'inferenceConfig', 'toolConfig', 'additionalModelRequestFields'];
const leastThinking = 1024;

/** The parameters beside the messages. */
export function checkParameters(input: Fields, report: Report): void {
  const { modelId } = input;
  if (typeof modelId !== 'string' || modelId === '')
    report('model', 'modelId', `Expected the id of a model, got ${describe(modelId)}.`);
  else if (modelId.includes(':prompt/'))
    for (const part of partsOfPrompt)
      if (!isAbsent(input[part])) report('managed-prompt', part, `Expected no ${part} beside a managed prompt.`);
  checkOutputCap(input, report);
  if (isRecord(input.outputConfig)) checkLevel(input.outputConfig.effort, claudeEfforts, 'outputConfig.effort', report);
  checkSystem(input.system, report);
}

/** Claude's `thinking`, also under its older name. */
export function readThinking({ additionalModelRequestFields: fields }: Fields): Fields | undefined {
  const thinking = isRecord(fields) ? (fields.thinking ?? fields.reasoning_config) : undefined;
  return isRecord(thinking) ? thinking : undefined;
}

function checkOutputCap(input: Fields, report: Report): void {
  const cap = isRecord(input.inferenceConfig) ? input.inferenceConfig.maxTokens : undefined;
  if (isAbsent(cap)) return;
  const path = 'inferenceConfig.maxTokens';
  if (!(Number.isInteger(cap) && Number(cap) > 0))
    report('output-cap', path, `Expected a whole number above 0, got ${describe(cap)}.`);
  const thinking = readThinking(input);
  const budget = Number(thinking?.budget_tokens);
  if (thinking?.type === 'enabled' && !(budget >= leastThinking && budget < Number(cap)))
    report('thinking-budget', path, `Expected a thinking budget of at least ${leastThinking} and less than the output cap.`);
  const fields = input.additionalModelRequestFields;
  const reasoning = isRecord(fields) && isRecord(fields.reasoningConfig) ? fields.reasoningConfig : {};
  if (reasoning.maxReasoningEffort === 'high')
    report('output-cap-at-high-effort', path, 'Expected no output cap at the highest effort.');
}

function checkSystem(system: unknown, report: Report): void {
  if (isAbsent(system)) return;
  if (!Array.isArray(system)) report('system-type', 'system', `Expected an array of blocks, got ${describe(system)}.`);
  else
    for (const [index, block] of system.entries()) {
      if (!isRecord(block)) report('system-type', `system[${index}]`, `Expected a block, got ${describe(block)}.`);
      else if (typeof block.text === 'string' && !/\S/.test(block.text))
        report('system-blank', `system[${index}]`, 'Expected text that is not only white space.');
    }
}
