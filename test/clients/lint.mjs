// Lints the OpenAPI document named by the argument with Redocly and Spectral: prints what they find as a JSON
// list. The packages are those of this folder.
import { readFileSync } from 'node:fs';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import spectralCore from '@stoplight/spectral-core';
import spectralRulesets from '@stoplight/spectral-rulesets';

const source = readFileSync(process.argv[2], 'utf8');

// Every rule of the recommended set, warnings as errors.
const redocly = await lintFromString({
  source,
  absoluteRef: 'openapi.json',
  config: await createConfig({ extends: ['recommended-strict'] }),
});

const spectral = new spectralCore.Spectral();
spectral.setRuleset({
  extends: [[spectralRulesets.oas, 'all']],
  rules: {
    // Whoever runs a gateway answers for it; the document cannot know their address.
    'contact-properties': 'off',
    // The licence has an identifier, and OpenAPI 3.1 allows one of the two.
    'license-url': 'off',
    // The tags are in the order of a reference: from symbols to the account.
    'openapi-tags-alphabetical': 'off',
  },
});

const found = [
  ...redocly.map(({ ruleId, message, location }) => `redocly ${ruleId} at ${location[0]?.pointer}: ${message}`),
  ...(await spectral.run(source)).map(
    ({ code, message, path }) => `spectral ${code} at #/${path.join('/')}: ${message}`,
  ),
];
console.log(JSON.stringify(found));
