// The reference's live parts: finding a route by typing, the place one has come to, and trying routes.
import '../../client/copy.ts';
import { followReading } from './contents.ts';
import { letFind } from './find.ts';
import { letTry } from './try.ts';

letFind();
followReading();
letTry();
