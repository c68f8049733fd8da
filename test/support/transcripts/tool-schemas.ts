import { callsOf } from './recorder.ts';
import type { Recording } from './recording.ts';

/** A tool as the calls of a conversation show it: a JSON schema of the arguments seen. */
export interface ToolSchema {
  name: string;
  description: string;
  parameters: { type: 'object'; properties: Record<string, object>; additionalProperties: true };
}

/** The tools of a conversation, in the order in which they were first used or referred to. */
export function describeTools({ turns }: Recording): ToolSchema[] {
  const tools = new Map<string, ToolSchema>();
  const toolNamed = (name: string) => {
    const tool = tools.get(name) ?? {
      name,
      description: `The tool ${name} of the recorded agent.`,
      parameters: { type: 'object', properties: {}, additionalProperties: true },
    };
    tools.set(name, tool);
    return tool;
  };
  for (const { reply, results } of turns) {
    for (const { name, input } of callsOf(reply)) {
      const { properties } = toolNamed(name).parameters;
      for (const [key, value] of Object.entries(input)) properties[key] ??= schemaOf(value);
    }
    for (const { content } of results) {
      if (typeof content === 'string') continue;
      for (const part of content) if (part.type === 'toolReference') toolNamed(part.name);
    }
  }
  return [...tools.values()];
}

function schemaOf(value: unknown): object {
  if (Array.isArray(value)) return { type: 'array', items: {} };
  return value === null ? {} : { type: typeof value };
}
