import type { RequestContext } from '../adapter.ts';
import { fieldsOf, isNothing, isRecord } from '../fields.ts';
import { describeTool } from './describe-tool.ts';
import { modelName, outputCap } from './model-facts.ts';
import type { LangchainRequest } from './shape.ts';

/** What an agent has beside its messages. A loop of one's own has its model elsewhere. */
export function readContext(request: LangchainRequest): RequestContext {
  const { model, systemMessage, systemPrompt, tools, modelSettings } = request;
  const system = isRecord(systemMessage) ? systemMessage.content : systemPrompt;
  const settings = fieldsOf(modelSettings);
  return {
    model: modelName(model),
    system: isNothing(system) ? undefined : system,
    tools: Array.isArray(tools) && tools.length > 0 ? tools.map(describeTool) : undefined,
    outputCap: outputCap(model, settings),
    serverHeld: isNothing(settings.previous_response_id) ? undefined : 'previous_response_id',
  };
}
