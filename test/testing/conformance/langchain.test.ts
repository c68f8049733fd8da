import { langchainKit } from '../../../src/testing/kits/langchain.ts';
import { conform } from '../../support/conform.ts';

conform(langchainKit);
