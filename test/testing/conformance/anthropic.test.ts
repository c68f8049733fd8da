import { anthropicKit } from '../../../src/testing/kits/anthropic.ts';
import { conform } from '../../support/conform.ts';

conform(anthropicKit);
