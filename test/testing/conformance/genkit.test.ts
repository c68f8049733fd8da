import { genkitKit } from '../../../src/testing/kits/genkit.ts';
import { conform } from '../../support/conform.ts';

conform(genkitKit);
