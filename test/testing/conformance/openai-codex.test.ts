import { openaiCodexKit } from '../../../src/testing/kits/openai-codex.ts';
import { conform } from '../../support/conform.ts';

conform(openaiCodexKit);
