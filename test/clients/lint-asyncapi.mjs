// Validates the AsyncAPI document named by the argument against the published schema, and lints it with Spectral:
// prints what it finds as a JSON list. The packages are those of this folder.
import { readFileSync } from 'node:fs';
import spectralCore from '@stoplight/spectral-core';
import spectralRulesets from '@stoplight/spectral-rulesets';

const spectral = new spectralCore.Spectral();
spectral.setRuleset({
  extends: [[spectralRulesets.asyncapi, 'all']],
  rules: {
    // Whoever runs a gateway answers for it; the document cannot know their address.
    'asyncapi-info-contact': 'off',
    'asyncapi-info-license': 'off',
    'asyncapi-info-license-url': 'off',
    // Most tools read 3.0.
    'asyncapi-latest-version': 'off',
    // The frames are protobuf.
    'asyncapi-3-payload-unsupported-schemaFormat': 'off',
  },
});
const found = await spectral.run(readFileSync(process.argv[2], 'utf8'));
console.log(JSON.stringify(found.map(({ code, path, message }) => `${code} ${path.join('.')}: ${message}`)));
