import { openaiChatKit } from '../../../src/testing/kits/openai-chat.ts';
import { conform } from '../../support/conform.ts';

conform(openaiChatKit);
