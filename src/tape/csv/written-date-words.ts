// Made by `npm run words` of Intl. Do not edit.

/** The words of a locale: `,` is between spellings, `|` between months, weekdays from Sunday, halves of the day. */
export interface LocaleWords {
  months: string;
  weekdays: string;
  /** With points and spaces as printed. */
  halfDays: string;
  /** Words that only connect. */
  links: string;
  /** Orders of year, month and day in digits, with their separator. */
  digits: string;
  /** Short zone names and their offset from UTC in minutes. */
  zones: string;
}

export const wordsByLocale: Readonly<Record<string, LocaleWords>> = {
  'en-US': {
    months:
      'january, jan | february, feb | march, mar | april, apr | may | june, jun | july, jul | august, aug | september, sep | october, oct | november, nov | december, dec',
    weekdays: 'sunday, sun | monday, mon | tuesday, tue | wednesday, wed | thursday, thu | friday, fri | saturday, sat',
    halfDays: 'AM | PM',
    links: 'at',
    digits: 'mdy/',
    zones:
      'ADT -180, AKDT -480, AKST -540, AST -240, CDT -300, CST -360, EDT -240, EST -300, HADT -540, HAST -600, HST -600, MDT -360, MST -420, PDT -420, PST -480',
  },
  'en-AU': {
    months:
      'january, jan | february, feb | march, mar | april, apr | may | june, jun | july, jul | august, aug | september, sept | october, oct | november, nov | december, dec',
    weekdays: 'sunday, sun | monday, mon | tuesday, tue | wednesday, wed | thursday, thu | friday, fri | saturday, sat',
    halfDays: 'am | pm',
    links: 'at',
    digits: 'dmy/',
    zones:
      'ACDT 630, ACST 570, ACWDT 585, ACWST 525, AEDT 660, AEST 600, AWDT 540, AWST 480, LHDT 660, LHST 630, NZDT 780, NZST 720',
  },
  'en-CA': {
    months:
      'january, jan | february, feb | march, mar | april, apr | may | june, jun | july, jul | august, aug | september, sep | october, oct | november, nov | december, dec',
    weekdays: 'sunday, sun | monday, mon | tuesday, tue | wednesday, wed | thursday, thu | friday, fri | saturday, sat',
    halfDays: 'a.m. | p.m.',
    links: 'at',
    digits: 'ymd-',
    zones:
      'ADT -180, AKDT -480, AKST -540, AST -240, CDT -300, CST -360, EDT -240, EST -300, HADT -540, HAST -600, HST -600, MDT -360, MST -420, NDT -150, NST -210, PDT -420, PMDT -120, PMST -180, PST -480',
  },
  'en-GB': {
    months:
      'january, jan | february, feb | march, mar | april, apr | may | june, jun | july, jul | august, aug | september, sept | october, oct | november, nov | december, dec',
    weekdays: 'sunday, sun | monday, mon | tuesday, tue | wednesday, wed | thursday, thu | friday, fri | saturday, sat',
    halfDays: 'am | pm',
    links: 'at',
    digits: 'dmy/',
    zones: 'BST 60, CEST 120, CET 60, EEST 180, EET 120, GST 240, WEST 60, WET 0',
  },
  'en-HK': {
    months:
      'january, jan | february, feb | march, mar | april, apr | may | june, jun | july, jul | august, aug | september, sept | october, oct | november, nov | december, dec',
    weekdays: 'sunday, sun | monday, mon | tuesday, tue | wednesday, wed | thursday, thu | friday, fri | saturday, sat',
    halfDays: 'am | pm',
    links: 'at',
    digits: 'dmy/',
    zones: 'HKT 480',
  },
  'en-IE': {
    months:
      'january, jan | february, feb | march, mar | april, apr | may | june, jun | july, jul | august, aug | september, sept | october, oct | november, nov | december, dec',
    weekdays: 'sunday, sun | monday, mon | tuesday, tue | wednesday, wed | thursday, thu | friday, fri | saturday, sat',
    halfDays: 'am | pm',
    links: 'at',
    digits: 'dmy/',
    zones: 'IST 60',
  },
  'en-IN': {
    months:
      'january, jan | february, feb | march, mar | april, apr | may | june, jun | july, jul | august, aug | september, sept | october, oct | november, nov | december, dec',
    weekdays: 'sunday, sun | monday, mon | tuesday, tue | wednesday, wed | thursday, thu | friday, fri | saturday, sat',
    halfDays: 'am | pm',
    links: 'at',
    digits: 'dmy/',
    zones: 'GST 240, IST 330',
  },
  'en-MY': {
    months:
      'january, jan | february, feb | march, mar | april, apr | may | june, jun | july, jul | august, aug | september, sept | october, oct | november, nov | december, dec',
    weekdays: 'sunday, sun | monday, mon | tuesday, tue | wednesday, wed | thursday, thu | friday, fri | saturday, sat',
    halfDays: 'am | pm',
    links: 'at',
    digits: 'dmy/',
    zones: 'MYT 480',
  },
  'en-NZ': {
    months:
      'january, jan | february, feb | march, mar | april, apr | may | june, jun | july, jul | august, aug | september, sept | october, oct | november, nov | december, dec',
    weekdays: 'sunday, sun | monday, mon | tuesday, tue | wednesday, wed | thursday, thu | friday, fri | saturday, sat',
    halfDays: 'am | pm',
    links: 'at',
    digits: 'dmy/',
    zones:
      'ACDT 630, ACST 570, ACWDT 585, ACWST 525, AEDT 660, AEST 600, AWDT 540, AWST 480, CHADT 825, CHAST 765, LHDT 660, LHST 630, NZDT 780, NZST 720',
  },
  'en-PH': {
    months:
      'january, jan | february, feb | march, mar | april, apr | may | june, jun | july, jul | august, aug | september, sep | october, oct | november, nov | december, dec',
    weekdays: 'sunday, sun | monday, mon | tuesday, tue | wednesday, wed | thursday, thu | friday, fri | saturday, sat',
    halfDays: 'AM | PM',
    links: 'at',
    digits: 'mdy/',
    zones:
      'ADT -180, AKDT -480, AKST -540, AST -240, CDT -300, CST -360, EDT -240, EST -300, HADT -540, HAST -600, HST -600, MDT -360, MST -420, PDT -420, PST -480',
  },
  'en-SG': {
    months:
      'january, jan | february, feb | march, mar | april, apr | may | june, jun | july, jul | august, aug | september, sept | october, oct | november, nov | december, dec',
    weekdays: 'sunday, sun | monday, mon | tuesday, tue | wednesday, wed | thursday, thu | friday, fri | saturday, sat',
    halfDays: 'am | pm',
    links: 'at',
    digits: 'dmy/',
    zones: 'MYT 480, SGT 480',
  },
  'en-ZA': {
    months:
      'january, jan | february, feb | march, mar | april, apr | may | june, jun | july, jul | august, aug | september, sept | october, oct | november, nov | december, dec',
    weekdays: 'sunday, sun | monday, mon | tuesday, tue | wednesday, wed | thursday, thu | friday, fri | saturday, sat',
    halfDays: 'am | pm',
    links: 'at',
    digits: 'ymd/',
    zones: 'CAT 120, EAT 180, SAST 120, WAST 120, WAT 60',
  },
  'de-AT': {
    months:
      'jänner, jän | februar, feb | märz, mär | april, apr | mai | juni, jun | juli, jul | august, aug | september, sep | oktober, okt | november, nov | dezember, dez',
    weekdays: 'sonntag, so | montag, mo | dienstag, di | mittwoch, mi | donnerstag, do | freitag, fr | samstag, sa',
    halfDays: 'AM | PM',
    links: 'um',
    digits: 'dmy.',
    zones: 'MESZ 120, MEZ 60, OESZ 180, OEZ 120, WESZ 60, WEZ 0',
  },
  'de-CH': {
    months:
      'januar, jan | februar, feb | märz, mär | april, apr | mai | juni, jun | juli, jul | august, aug | september, sept, sep | oktober, okt | november, nov | dezember, dez',
    weekdays: 'sonntag, so | montag, mo | dienstag, di | mittwoch, mi | donnerstag, do | freitag, fr | samstag, sa',
    halfDays: 'AM | PM',
    links: 'um',
    digits: 'dmy.',
    zones: 'MESZ 120, MEZ 60, OESZ 180, OEZ 120, WESZ 60, WEZ 0',
  },
  'de-DE': {
    months:
      'januar, jan | februar, feb | märz, mär | april, apr | mai | juni, jun | juli, jul | august, aug | september, sept, sep | oktober, okt | november, nov | dezember, dez',
    weekdays: 'sonntag, so | montag, mo | dienstag, di | mittwoch, mi | donnerstag, do | freitag, fr | samstag, sa',
    halfDays: 'AM | PM',
    links: 'um',
    digits: 'dmy.',
    zones: 'MESZ 120, MEZ 60, OESZ 180, OEZ 120, WESZ 60, WEZ 0',
  },
  'fr-BE': {
    months:
      'janvier, janv | février, févr | mars | avril, avr | mai | juin | juillet, juil | août | septembre, sept | octobre, oct | novembre, nov | décembre, déc',
    weekdays: 'dimanche, dim | lundi, lun | mardi, mar | mercredi, mer | jeudi, jeu | vendredi, ven | samedi, sam',
    halfDays: 'AM | PM',
    links: 'à',
    digits: 'dmy/',
    zones: '',
  },
  'fr-CA': {
    months:
      'janvier, janv | février, févr | mars | avril, avr | mai | juin | juillet, juill | août | septembre, sept | octobre, oct | novembre, nov | décembre, déc',
    weekdays: 'dimanche, dim | lundi, lun | mardi, mar | mercredi, mer | jeudi, jeu | vendredi, ven | samedi, sam',
    halfDays: 'a.m. | p.m.',
    links: 'à',
    digits: 'ymd-',
    zones:
      'HAA -180, HAC -300, HAE -240, HAP -420, HAPM -120, HAR -360, HAT -150, HNA -240, HNC -360, HNE -300, HNP -480, HNPM -180, HNR -420, HNT -210',
  },
  'fr-CH': {
    months:
      'janvier, janv | février, févr | mars | avril, avr | mai | juin | juillet, juil | août | septembre, sept | octobre, oct | novembre, nov | décembre, déc',
    weekdays: 'dimanche, dim | lundi, lun | mardi, mar | mercredi, mer | jeudi, jeu | vendredi, ven | samedi, sam',
    halfDays: 'AM | PM',
    links: 'à',
    digits: 'dmy.',
    zones: '',
  },
  'fr-FR': {
    months:
      'janvier, janv | février, févr | mars | avril, avr | mai | juin | juillet, juil | août | septembre, sept | octobre, oct | novembre, nov | décembre, déc',
    weekdays: 'dimanche, dim | lundi, lun | mardi, mar | mercredi, mer | jeudi, jeu | vendredi, ven | samedi, sam',
    halfDays: 'AM | PM',
    links: 'à',
    digits: 'dmy/',
    zones: '',
  },
  'es-AR': {
    months:
      'enero, ene | febrero, feb | marzo, mar | abril, abr | mayo, may | junio, jun | julio, jul | agosto, ago | septiembre, sept | octubre, oct | noviembre, nov | diciembre, dic',
    weekdays: 'domingo, dom | lunes, lun | martes, mar | miércoles, mié | jueves, jue | viernes, vie | sábado, sáb',
    halfDays: 'a. m. | p. m.',
    links: 'de, a, las',
    digits: 'dmy/',
    zones: 'ARST -120, ART -180, WARST -180, WART -240',
  },
  'es-CL': {
    months:
      'enero, ene | febrero, feb | marzo, mar | abril, abr | mayo, may | junio, jun | julio, jul | agosto, ago | septiembre, sept | octubre, oct | noviembre, nov | diciembre, dic',
    weekdays: 'domingo, dom | lunes, lun | martes, mar | miércoles, mié | jueves, jue | viernes, vie | sábado, sáb',
    halfDays: 'a. m. | p. m.',
    links: 'de, a, las',
    digits: 'dmy-',
    zones: 'CLST -180, CLT -240',
  },
  'es-CO': {
    months:
      'enero, ene | febrero, feb | marzo, mar | abril, abr | mayo, may | junio, jun | julio, jul | agosto, ago | septiembre, sept | octubre, oct | noviembre, nov | diciembre, dic',
    weekdays: 'domingo, dom | lunes, lun | martes, mar | miércoles, mié | jueves, jue | viernes, vie | sábado, sáb',
    halfDays: 'a. m. | p. m.',
    links: 'de, a, las',
    digits: 'dmy/',
    zones: 'COT -300',
  },
  'es-ES': {
    months:
      'enero, ene | febrero, feb | marzo, mar | abril, abr | mayo, may | junio, jun | julio, jul | agosto, ago | septiembre, sept | octubre, oct | noviembre, nov | diciembre, dic',
    weekdays: 'domingo, dom | lunes, lun | martes, mar | miércoles, mié | jueves, jue | viernes, vie | sábado, sáb',
    halfDays: 'a. m. | p. m.',
    links: 'de, a, las',
    digits: 'dmy/',
    zones: 'CEST 120, CET 60, EEST 180, EET 120, WEST 60, WET 0',
  },
  'es-MX': {
    months:
      'enero, ene | febrero, feb | marzo, mar | abril, abr | mayo, may | junio, jun | julio, jul | agosto, ago | septiembre, sep | octubre, oct | noviembre, nov | diciembre, dic',
    weekdays: 'domingo, dom | lunes, lun | martes, mar | miércoles, mié | jueves, jue | viernes, vie | sábado, sáb',
    halfDays: 'a.m. | p.m.',
    links: 'de, a, las',
    digits: 'dmy/',
    zones: '',
  },
  'es-PE': {
    months:
      'enero, ene | febrero, feb | marzo, mar | abril, abr | mayo, may | junio, jun | julio, jul | agosto, ago | setiembre, set | octubre, oct | noviembre, nov | diciembre, dic',
    weekdays: 'domingo, dom | lunes, lun | martes, mar | miércoles, mié | jueves, jue | viernes, vie | sábado, sáb',
    halfDays: 'a. m. | p. m.',
    links: 'de, a, las',
    digits: 'dmy/',
    zones: 'PET -300',
  },
  'es-US': {
    months:
      'enero, ene | febrero, feb | marzo, mar | abril, abr | mayo, may | junio, jun | julio, jul | agosto, ago | septiembre, sept | octubre, oct | noviembre, nov | diciembre, dic',
    weekdays: 'domingo, dom | lunes, lun | martes, mar | miércoles, mié | jueves, jue | viernes, vie | sábado, sáb',
    halfDays: 'a.m. | p.m.',
    links: 'de, a, las',
    digits: 'dmy/',
    zones:
      'ADT -180, AKDT -480, AKST -540, AST -240, CDT -300, CST -360, EDT -240, EST -300, HADT -540, HAST -600, HST -600, MDT -360, MST -420, PDT -420, PST -480',
  },
  'es-UY': {
    months:
      'enero, ene | febrero, feb | marzo, mar | abril, abr | mayo, may | junio, jun | julio, jul | agosto, ago | setiembre, set | octubre, oct | noviembre, nov | diciembre, dic',
    weekdays: 'domingo, dom | lunes, lun | martes, mar | miércoles, mié | jueves, jue | viernes, vie | sábado, sáb',
    halfDays: 'a. m. | p. m.',
    links: 'de, a, las',
    digits: 'dmy/',
    zones: 'UYST -120, UYT -180',
  },
  'es-VE': {
    months:
      'enero, ene | febrero, feb | marzo, mar | abril, abr | mayo, may | junio, jun | julio, jul | agosto, ago | septiembre, sept | octubre, oct | noviembre, nov | diciembre, dic',
    weekdays: 'domingo, dom | lunes, lun | martes, mar | miércoles, mié | jueves, jue | viernes, vie | sábado, sáb',
    halfDays: 'a. m. | p. m.',
    links: 'de, a, las',
    digits: 'dmy/',
    zones: 'VET -240, VET -270',
  },
  'it-CH': {
    months:
      'gennaio, gen | febbraio, feb | marzo, mar | aprile, apr | maggio, mag | giugno, giu | luglio, lug | agosto, ago | settembre, set | ottobre, ott | novembre, nov | dicembre, dic',
    weekdays: 'domenica, dom | lunedì, lun | martedì, mar | mercoledì, mer | giovedì, gio | venerdì, ven | sabato, sab',
    halfDays: 'AM | PM',
    links: 'alle, ore',
    digits: 'dmy., dmy/',
    zones: 'CEST 120, CET 60, EEST 180, EET 120, WEST 60, WET 0',
  },
  'it-IT': {
    months:
      'gennaio, gen | febbraio, feb | marzo, mar | aprile, apr | maggio, mag | giugno, giu | luglio, lug | agosto, ago | settembre, set | ottobre, ott | novembre, nov | dicembre, dic',
    weekdays: 'domenica, dom | lunedì, lun | martedì, mar | mercoledì, mer | giovedì, gio | venerdì, ven | sabato, sab',
    halfDays: 'AM | PM',
    links: 'alle, ore',
    digits: 'dmy/',
    zones: 'CEST 120, CET 60, EEST 180, EET 120, WEST 60, WET 0',
  },
  'nl-BE': {
    months:
      'januari, jan | februari, feb | maart, mrt | april, apr | mei | juni, jun | juli, jul | augustus, aug | september, sep | oktober, okt | november, nov | december, dec',
    weekdays: 'zondag, zo | maandag, ma | dinsdag, di | woensdag, wo | donderdag, do | vrijdag, vr | zaterdag, za',
    halfDays: 'a.m. | p.m.',
    links: 'om',
    digits: 'dmy/',
    zones:
      'ADT -180, AKDT -480, AKST -540, AST -240, CDT -300, CEST 120, CET 60, CST -360, EDT -240, EEST 180, EET 120, EST -300, HADT -540, HAST -600, MDT -360, MST -420, PDT -420, PST -480, WEST 60, WET 0',
  },
  'nl-NL': {
    months:
      'januari, jan | februari, feb | maart, mrt | april, apr | mei | juni, jun | juli, jul | augustus, aug | september, sep | oktober, okt | november, nov | december, dec',
    weekdays: 'zondag, zo | maandag, ma | dinsdag, di | woensdag, wo | donderdag, do | vrijdag, vr | zaterdag, za',
    halfDays: 'a.m. | p.m.',
    links: 'om',
    digits: 'dmy-',
    zones:
      'ADT -180, AKDT -480, AKST -540, AST -240, CDT -300, CEST 120, CET 60, CST -360, EDT -240, EEST 180, EET 120, EST -300, HADT -540, HAST -600, MDT -360, MST -420, PDT -420, PST -480, WEST 60, WET 0',
  },
  'pt-BR': {
    months:
      'janeiro, jan | fevereiro, fev | março, mar | abril, abr | maio, mai | junho, jun | julho, jul | agosto, ago | setembro, set | outubro, out | novembro, nov | dezembro, dez',
    weekdays:
      'domingo, dom | segunda-feira, seg | terça-feira, ter | quarta-feira, qua | quinta-feira, qui | sexta-feira, sex | sábado, sáb',
    halfDays: 'AM | PM',
    links: 'de, às',
    digits: 'dmy/',
    zones: 'ACT -300, AMST -180, AMT -240, BRST -120, BRT -180',
  },
  'pt-PT': {
    months:
      'janeiro, jan | fevereiro, fev | março, mar | abril, abr | maio, mai | junho, jun | julho, jul | agosto, ago | setembro, set | outubro, out | novembro, nov | dezembro, dez',
    weekdays:
      'domingo | segunda-feira, segunda | terça-feira, terça | quarta-feira, quarta | quinta-feira, quinta | sexta-feira, sexta | sábado',
    halfDays: 'a.m. | p.m.',
    links: 'de, às',
    digits: 'dmy/',
    zones: 'AZOST 0, AZOT -60, CEST 120, CET 60, EEST 180, EET 120, WEST 60, WET 0',
  },
  'sv-FI': {
    months:
      'januari, jan | februari, feb | mars | april, apr | maj | juni | juli | augusti, aug | september, sep | oktober, okt | november, nov | december, dec',
    weekdays: 'söndag, sön | måndag, mån | tisdag, tis | onsdag, ons | torsdag, tors | fredag, fre | lördag, lör',
    halfDays: 'fm | em',
    links: 'kl',
    digits: 'dmy.',
    zones: 'CEST 120, CET 60, EEST 180, EET 120, WEST 60, WET 0',
  },
  'sv-SE': {
    months:
      'januari, jan | februari, feb | mars | april, apr | maj | juni | juli | augusti, aug | september, sep | oktober, okt | november, nov | december, dec',
    weekdays: 'söndag, sön | måndag, mån | tisdag, tis | onsdag, ons | torsdag, tors | fredag, fre | lördag, lör',
    halfDays: 'fm | em',
    links: 'kl',
    digits: 'ymd-',
    zones: 'CEST 120, CET 60, EEST 180, EET 120, WEST 60, WET 0',
  },
  'da-DK': {
    months:
      'januar, jan | februar, feb | marts, mar | april, apr | maj | juni, jun | juli, jul | august, aug | september, sep | oktober, okt | november, nov | december, dec',
    weekdays: 'søndag, søn | mandag, man | tirsdag, tirs | onsdag, ons | torsdag, tors | fredag, fre | lørdag, lør',
    halfDays: 'AM | PM',
    links: 'den, kl',
    digits: 'dmy.',
    zones: 'CEST 120, CET 60, EEST 180, EET 120, WEST 60, WET 0',
  },
  'ru-RU': {
    months:
      'января, январь, янв | февраля, февраль, февр | марта, март, мар | апреля, апрель, апр | мая, май | июня, июнь, июн | июля, июль, июл | августа, август, авг | сентября, сентябрь, сент | октября, октябрь, окт | ноября, ноябрь, нояб | декабря, декабрь, дек',
    weekdays: 'воскресенье, вс | понедельник, пн | вторник, вт | среда, ср | четверг, чт | пятница, пт | суббота, сб',
    halfDays: 'AM | PM',
    links: 'г, в',
    digits: 'dmy.',
    zones: '',
  },
  'pl-PL': {
    months:
      'stycznia, styczeń, sty | lutego, luty, lut | marca, marzec, mar | kwietnia, kwiecień, kwi | maja, maj | czerwca, czerwiec, cze | lipca, lipiec, lip | sierpnia, sierpień, sie | września, wrzesień, wrz | października, październik, paź | listopada, listopad, lis | grudnia, grudzień, gru',
    weekdays:
      'niedziela, niedz | poniedziałek, pon | wtorek, wt | środa, śr | czwartek, czw | piątek, pt | sobota, sob',
    halfDays: 'AM | PM',
    links: '',
    digits: 'dmy.',
    zones: 'CEST 120, CET 60, EEST 180, EET 120, WEST 60, WET 0',
  },
  'cs-CZ': {
    months:
      'ledna, leden, led | února, únor, úno | března, březen, bře | dubna, duben, dub | května, květen, kvě | června, červen, čvn | července, červenec, čvc | srpna, srpen, srp | září, zář | října, říjen, říj | listopadu, listopad, lis | prosince, prosinec, pro',
    weekdays: 'neděle, ne | pondělí, po | úterý, út | středa, st | čtvrtek, čt | pátek, pá | sobota, so',
    halfDays: 'dop. | odp.',
    links: 'v',
    digits: 'dmy.',
    zones:
      'ADT -180, AKDT -480, AKST -540, AST -240, CDT -300, CST -360, EDT -240, EST -300, MDT -360, MST -420, PDT -420, PST -480, SELČ 120, SEČ 60',
  },
  'tr-TR': {
    months:
      'ocak, oca | şubat, şub | mart, mar | nisan, nis | mayıs, may | haziran, haz | temmuz, tem | ağustos, ağu | eylül, eyl | ekim, eki | kasım, kas | aralık, ara',
    weekdays: 'pazar, paz | pazartesi, pzt | salı, sal | çarşamba, çar | perşembe, per | cuma, cum | cumartesi, cmt',
    halfDays: 'ÖÖ | ÖS',
    links: '',
    digits: 'dmy.',
    zones: '',
  },
  'fi-FI': {
    months:
      'tammikuuta, tammikuu, tammi | helmikuuta, helmikuu, helmi | maaliskuuta, maaliskuu, maalis | huhtikuuta, huhtikuu, huhti | toukokuuta, toukokuu, touko | kesäkuuta, kesäkuu, kesä | heinäkuuta, heinäkuu, heinä | elokuuta, elokuu, elo | syyskuuta, syyskuu, syys | lokakuuta, lokakuu, loka | marraskuuta, marraskuu, marras | joulukuuta, joulukuu, joulu',
    weekdays:
      'sunnuntaina, sunnuntai, su | maanantaina, maanantai, ma | tiistaina, tiistai, ti | keskiviikkona, keskiviikko, ke | torstaina, torstai, to | perjantaina, perjantai, pe | lauantaina, lauantai, la',
    halfDays: 'ap. | ip.',
    links: 'klo',
    digits: 'dmy.',
    zones: '',
  },
  'ja-JP': {
    months: '',
    weekdays: '日曜日, 日 | 月曜日, 月 | 火曜日, 火 | 水曜日, 水 | 木曜日, 木 | 金曜日, 金 | 土曜日, 土',
    halfDays: '午前 | 午後',
    links: '',
    digits: 'ymd/',
    zones: 'JST 540',
  },
  'zh-CN': {
    months: '一月 | 二月 | 三月 | 四月 | 五月 | 六月 | 七月 | 八月 | 九月 | 十月 | 十一月 | 十二月',
    weekdays: '星期日, 周日 | 星期一, 周一 | 星期二, 周二 | 星期三, 周三 | 星期四, 周四 | 星期五, 周五 | 星期六, 周六',
    halfDays: '上午 | 下午',
    links: '',
    digits: 'ymd/',
    zones: '',
  },
  'zh-HK': {
    months: '',
    weekdays: '星期日, 週日 | 星期一, 週一 | 星期二, 週二 | 星期三, 週三 | 星期四, 週四 | 星期五, 週五 | 星期六, 週六',
    halfDays: '上午 | 下午',
    links: '',
    digits: 'dmy/',
    zones:
      'ADT -180, AKDT -480, AKST -540, AST -240, CDT -300, CST -360, EDT -240, EST -300, HADT -540, HAST -600, MDT -360, MST -420, PDT -420, PST -480',
  },
  'zh-SG': {
    months: '',
    weekdays: '星期日, 周日 | 星期一, 周一 | 星期二, 周二 | 星期三, 周三 | 星期四, 周四 | 星期五, 周五 | 星期六, 周六',
    halfDays: '上午 | 下午',
    links: '',
    digits: 'dmy/',
    zones: 'MYT 480, SGT 480',
  },
  'zh-TW': {
    months: '',
    weekdays: '星期日, 週日 | 星期一, 週一 | 星期二, 週二 | 星期三, 週三 | 星期四, 週四 | 星期五, 週五 | 星期六, 週六',
    halfDays: '凌晨, 清晨, 上午 | 中午, 下午, 晚上',
    links: '',
    digits: 'ymd/',
    zones:
      'ADT -180, AKDT -480, AKST -540, AST -240, CDT -300, CST -360, EDT -240, EST -300, HADT -540, HAST -600, MDT -360, MST -420, PDT -420, PST -480',
  },
  'ko-KR': {
    months: '',
    weekdays: '일요일, 일 | 월요일, 월 | 화요일, 화 | 수요일, 수 | 목요일, 목 | 금요일, 금 | 토요일, 토',
    halfDays: '오전 | 오후',
    links: '',
    digits: 'ymd.',
    zones: '',
  },
};
