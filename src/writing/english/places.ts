function phrases(text: string): ReadonlySet<string> {
  return new Set(text.trim().split(/\s*[,\n]\s*/));
}

/** Countries, cities, people and languages, which all have capitals in English. */
export const places = phrases(`
  america, american, americans, africa, african, africans, asia, asian, europe, european, europeans
  australia, australian, austria, austrian, belgium, belgian, brazil, brazilian, britain, british
  canada, canadian, canadians, chile, china, chinese, colombia, cuba, cuban, denmark, danish, dutch
  egypt, egyptian, england, english, finland, finnish, france, french, germany, german, germans
  greece, greek, greenland, hungary, iceland, icelandic, icelander, icelanders, india, indian
  indians, indonesia, iran, iraq, ireland, irish, israel, israeli, italy, italian, italians, japan
  japanese, kenya, korea, korean, latin, mexico, mexican, mexicans, netherlands, nigeria, norway
  norwegian, pakistan, poland, portugal, portuguese, russia, russian, russians, scotland, scottish
  spain, spanish, sweden, swedish, switzerland, swiss, syria, turkish, ukraine, ukrainian
  vietnam, wales, welsh, amsterdam, athens, atlanta, baltimore, beijing, berlin, boston, brooklyn
  brussels, chicago, cleveland, copenhagen, dallas, denver, detroit, dublin, edinburgh, geneva
  helsinki, hollywood, houston, istanbul, jerusalem, kyiv, lisbon, london, madrid, manhattan, miami
  milan, minneapolis, montreal, moscow, munich, oslo, ottawa, paris, philadelphia, phoenix
  pittsburgh, portland, prague, reykjavik, rome, sacramento, seattle, seoul, shanghai, singapore
  stockholm, sydney, tokyo, toronto, vancouver, venice, vienna, warsaw, washington, zurich
  alabama, alaska, arizona, arkansas, california, colorado, connecticut, delaware, florida, georgia
  hawaii, idaho, illinois, indiana, iowa, kansas, kentucky, louisiana, maine, maryland
  massachusetts, michigan, minnesota, mississippi, missouri, montana, nebraska, nevada, ohio
  oklahoma, oregon, pennsylvania, tennessee, texas, utah, vermont, virginia, wisconsin, wyoming
  atlantic, pacific, mediterranean, arctic, antarctica, christmas, easter, thanksgiving, halloween
  google, microsoft, facebook, twitter, wikipedia, internet explorer, christianity, christian
  christians, muslim, muslims, islam, jewish, catholic, bible
`);

/** Names of several words; each word has a capital but for those in smallWords. */
export const longNames = phrases(`
  new york, new york city, los angeles, san francisco, san diego, san jose, las vegas, new orleans
  new jersey, new mexico, new hampshire, new england, new zealand, north carolina, south carolina
  north dakota, south dakota, west virginia, rhode island, salt lake city, kansas city, hong kong
  united states, united states of america, united kingdom, great britain, northern ireland
  south africa, south korea, north korea, south america, north america, latin america, middle east
  saudi arabia, costa rica, puerto rico, sri lanka, czech republic, european union, united nations
  white house, supreme court, wall street, times square, golden gate bridge, statue of liberty
  eiffel tower, buckingham palace, civil war, world war, soviet union, cape town, mexico city
  rio de janeiro, buenos aires, tel aviv, abu dhabi, st louis, santa monica, santa fe, long island
  silicon valley, grand canyon, rocky mountains, gulf of mexico, dominican republic, new delhi
  christmas day, christmas eve, new year's eve, new year's day
  martin luther king, santa claus, star wars, harry potter
`);

export const smallWords: ReadonlySet<string> = new Set(["of", "the", "de"]);
