import { openaiResponsesKit } from '../../../src/testing/kits/openai-responses.ts';
import { conform } from '../../support/conform.ts';

conform(openaiResponsesKit);
