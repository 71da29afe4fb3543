// The live parts of a guide: the search, the current section, and the sample market's key.
import '../../client/copy.ts';
import '../../client/use-sample-key.ts';
import { followReading } from './current-section.ts';
import { letSearch } from './search.ts';

letSearch();
followReading();
