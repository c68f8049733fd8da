import { googleGenaiKit } from '../../../src/testing/kits/google-genai.ts';
import { conform } from '../../support/conform.ts';

conform(googleGenaiKit);
