import { aiSdkKit } from '../../../src/testing/kits/ai-sdk.ts';
import { conform } from '../../support/conform.ts';

conform(aiSdkKit);
