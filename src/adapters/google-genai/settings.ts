import { type Fields, fieldsOf, isBlank, isNothing, isRecord, listOf } from '../fields.ts';
import { fieldOf, nameIn, recordOf } from './field-names.ts';
import type { GeminiRequest } from './shape.ts';

/** Fields that only the body of a REST call has at its top. */
const restFields = [
  'systemInstruction',
  'tools',
  'toolConfig',
  'generationConfig',
  'cachedContent',
  'safetySettings',
  'serviceTier',
  'labels',
];

/** True for the body of a REST call, whose model is in its address; false for the parameters of the SDK. */
export function isRestBody(request: GeminiRequest): boolean {
  const fields: Fields = { ...request };
  if (!isNothing(fields.config)) return false;
  return isNothing(fields.model) || restFields.some((name) => !isNothing(fieldOf(fields, name)));
}

/** What surrounds the conversation: system text, tools, and how they are used. */
export function settingsOf(request: GeminiRequest): Fields {
  if (isRestBody(request)) return { ...request };
  return fieldsOf(request.config);
}

/** How the output is made: the SDK has this among the settings. */
export function generationOf(request: GeminiRequest): Fields {
  const settings = settingsOf(request);
  return isRestBody(request) ? (recordOf(settings, 'generationConfig') ?? {}) : settings;
}

/** The same request with other settings. */
export function withSettings<R extends GeminiRequest>(request: R, settings: Fields): R {
  // Settings are those of the request but for fields that the provider knows there.
  return (isRestBody(request) ? settings : { ...request, config: settings }) as R;
}

/** The same request with another system text, in the form that REST takes, too. */
export function withSystem<R extends GeminiRequest>(request: R, system: string): R {
  const settings = { ...settingsOf(request) };
  const name = nameIn(settings, 'systemInstruction');
  if (isBlank(system)) delete settings[name];
  else settings[name] = { parts: [{ text: system }] };
  return withSettings(request, settings);
}

/** True for a tool of the SDK that runs itself: what it declares is not known before it is asked. */
export function isCallable(tool: unknown): boolean {
  return typeof tool === 'object' && tool !== null && 'callTool' in tool && typeof tool.callTool === 'function';
}

/** The tools as far as a request tells them. What runs itself may hold anything, also itself. */
export function toolsOf(settings: Fields): unknown {
  const { tools } = settings;
  if (!listOf(tools).some(isCallable)) return tools ?? undefined;
  return listOf(tools).map((tool) => (isCallable(tool) ? { callable: true } : tool));
}

/** True where the model could call functions of the caller. */
export function declaresFunctions(settings: Fields): boolean {
  return listOf(settings.tools).some(
    (tool) => isCallable(tool) || (isRecord(tool) && listOf(fieldOf(tool, 'functionDeclarations')).length > 0),
  );
}
