import { type ContractSignedVolume, contractSignedVolume } from '../../resolvers/flow/signed-volume.ts';
import { builder } from '../builder.ts';
import { OptionContractType } from '../chain/contract.ts';

const SignedVolumeType = builder.objectRef<ContractSignedVolume>('SignedVolume').implement({
  description:
    "A contract's volume in a session by the side that initiated it, inferred from the quote at the time of each print. Prints between bid and ask, and those without a usable quote, are in neither.",
  fields: (t) => ({
    bought: t.expose('bought', { type: 'Long', description: 'Contracts traded at or near the ask.' }),
    sold: t.expose('sold', { type: 'Long', description: 'Contracts traded at or near the bid.' }),
    sessionDate: t.expose('sessionDate', { type: 'SessionDate', description: 'Exchange session, New York.' }),
    observedFromMs: t.expose('observedFromMs', {
      type: 'EpochMs',
      description: 'Start of the observed span of the session, epoch ms.',
    }),
    throughMs: t.expose('throughMs', {
      type: 'EpochMs',
      description: 'End of the last minute that counts, epoch ms.',
    }),
  }),
});

builder.objectField(OptionContractType, 'signedVolume', (t) =>
  t.field({
    type: SignedVolumeType,
    nullable: true,
    description:
      'Contracts bought and sold in a session, up to the last whole minute. Null if the session was stored by a release without them, or if no quotes of the session are known.',
    args: { session: t.arg({ type: 'SessionDate', description: 'The session. Default: the current one.' }) },
    scope: 'analytics.flow',
    price: { once: 2.5, each: 0.07 },
    resolve: (contract, { session }, context) => contractSignedVolume(context, contract, session ?? null),
  }),
);
