import type { LangchainBlock, LangchainMessage } from '../../../adapters/langchain.ts';

/** What a message is made of. */
interface MessageFields {
  content: string | LangchainBlock[];
  [field: string]: unknown;
}

type MessageClass = new (fields: MessageFields) => LangchainMessage;

/** The classes that a kit makes messages of, as they are called in `@langchain/core/messages`. */
export interface LangchainKitClasses {
  readonly HumanMessage: MessageClass;
  readonly AIMessage: MessageClass;
  readonly AIMessageChunk: MessageClass;
  readonly ToolMessage: new (fields: MessageFields & { tool_call_id: string }) => LangchainMessage;
  readonly SystemMessage: MessageClass;
}

/** Messages that look like those of `@langchain/core`, for tests without it: instances, which keep what they were made of. */
class Message implements LangchainMessage {
  readonly lc_serializable = true;
  lc_kwargs: object;
  content: MessageFields['content'];
  id: unknown;
  name: unknown;
  additional_kwargs: object;
  response_metadata: object;

  constructor(fields: MessageFields) {
    const { content, id, name, additional_kwargs = {}, response_metadata = {} } = fields;
    this.lc_kwargs = { ...fields, additional_kwargs, response_metadata };
    this.content = content;
    this.id = id;
    this.name = name;
    this.additional_kwargs = Object(additional_kwargs);
    this.response_metadata = Object(response_metadata);
  }
}

class HumanMessage extends Message {
  readonly type = 'human';
}

class SystemMessage extends Message {
  readonly type = 'system';
}

class ToolMessage extends Message {
  readonly type = 'tool';
  tool_call_id: unknown;
  status: unknown;
  artifact: unknown;

  constructor(fields: MessageFields) {
    super(fields);
    this.tool_call_id = fields.tool_call_id;
    this.status = fields.status;
    this.artifact = fields.artifact;
  }
}

class AIMessage extends Message {
  readonly type = 'ai';
  tool_calls: readonly unknown[];
  invalid_tool_calls: readonly unknown[] = [];
  usage_metadata: object | undefined;

  constructor(fields: MessageFields) {
    super(fields);
    this.tool_calls = Array.isArray(fields.tool_calls) ? fields.tool_calls : [];
    this.usage_metadata = fields.usage_metadata === undefined ? undefined : Object(fields.usage_metadata);
  }
}

/** A piece of a streamed answer. */
class AIMessageChunk extends AIMessage {
  concat(next: AIMessageChunk): AIMessageChunk {
    return new AIMessageChunk({
      content: `${this.content}${next.content}`,
      additional_kwargs: { ...this.additional_kwargs, ...next.additional_kwargs },
      response_metadata: { ...this.response_metadata, ...next.response_metadata },
      tool_calls: [...this.tool_calls, ...next.tool_calls],
      usage_metadata: next.usage_metadata ?? this.usage_metadata,
    });
  }
}

export const standInClasses: LangchainKitClasses = { HumanMessage, AIMessage, AIMessageChunk, ToolMessage, SystemMessage };
