import { bedrockKit } from '../../../src/testing/kits/bedrock.ts';
import { conform } from '../../support/conform.ts';

conform(bedrockKit);
