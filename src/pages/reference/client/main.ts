// The reference's live parts: the search, the current section, and trying routes.
import '../../client/copy.ts';
import { followReading } from './current-section.ts';
import { letSearch } from './search.ts';
import { letTry } from './try.ts';
import { reachWideTables } from './wide-tables.ts';

letSearch();
followReading();
letTry();
reachWideTables();
