function words(text: string): ReadonlySet<string> {
  return new Set(text.trim().split(/\s+/));
}

/**
 * Given names that are common in the United States (the Social Security Administration publishes
 * counts) and are not also common words.
 */
export const givenNames = words(`
  aaron abigail adam adrian alan albert alex alexander alexandra alice alicia allison amanda amber
  amy andrea andrew angela anita ann anna anne annie anthony antonio arthur ashley audrey barbara
  beatrice ben benjamin bernard beth betty beverly bob bobby bonnie brandon brenda brian bruce bryan
  carl carla carlos carmen carol caroline carolyn catherine charles charlie charlotte chelsea cheryl
  chris christian christina christine christopher cindy claire clara colin connie craig crystal
  cynthia daniel danielle david deborah debra denise dennis derek diana diane donald donna dorothy
  douglas dylan edgar edith edward edwin eileen elaine eleanor elizabeth ellen emily emma eric erica
  erin ethan eugene eva evan evelyn felix fiona florence francis frances fred frederick gabriel gary
  george gerald gloria gordon gregory hannah harold harry harriet heather helen henry herbert howard
  hugh ian irene isaac isabel isabella ivan jacob jacqueline james jane janet janice jason jean
  jeff jeffrey jennifer jenny jeremy jerry jesse jessica jill jim jimmy joan joanna joe joel john
  johnny jonathan jordan jose joseph joshua joyce juan judith judy julia julian julie justin karen
  katherine kathleen kathryn kathy katie keith kelly kenneth kevin kimberly kyle larry laura lauren
  lawrence leah leo leonard leslie lewis liam lily linda lisa lois louis louise lucas lucy luis luke
  lynn marcus margaret maria marie marilyn mario marion marjorie martha martin mary matthew maureen
  megan melissa michael michelle mike miguel mildred monica nancy naomi natalie nathan nicholas
  nicole noah norma norman oliver olivia oscar pamela patricia patrick paul paula pauline peggy
  peter philip phillip phyllis rachel ralph raymond rebecca richard robert roberta robin roger
  ronald rosemary roy russell ruth ryan samantha samuel sandra sarah scott sean sharon sheila
  shirley simon sophia sophie stanley stephanie stephen steve steven stuart susan suzanne sylvia
  tamara teresa terry theodore theresa thomas tiffany tim timothy tina todd tom tommy tony tracy
  tyler valerie vanessa veronica victor victoria vincent virginia vivian walter wanda wendy wesley
  william willie zachary
`);

/** Names that are common words too, with a capital only next to another name or a title. */
export const ambiguousNames = words(`
  april art bill chance chase christian dale daisy dawn dean drew earl faith frank gene glen
  grace grant guy hope iris ivy jack josh joy june lance mark max may miles nick pat penny ray rich
  rob rose ruby rusty sally sam sue summer ted violet will
`);

/** Surnames that are not also common words. */
export const surnames = words(`
  adams alexander allen anderson andrews armstrong bailey barnes bennett boyd bradley bryant
  burke burns butler campbell carlson carroll clark clinton collins cooper crawford cruz cunningham
  davis diaz douglas duncan edwards elliott ellis evans ferguson fisher fleming freeman garcia
  gibson gomez gonzales gonzalez graham griffin hamilton hansen hanson harris harrison harvey hawkins
  henderson hernandez hicks hoffman holmes hopkins howell hudson hughes jackson jacobs jefferson
  jenkins jensen johnson johnston jones kelley kennedy knight larson lewis lincoln lopez marshall
  martinez mcdonald miller mitchell montgomery moore morales morgan morris morrison murphy murray
  nelson newman nguyen nixon obama olson ortiz parker patterson perez perkins peters peterson
  phillips porter powell ramirez reagan reynolds richards richardson rivera roberts robertson
  robinson rodriguez rogers roosevelt sanchez sanders schmidt schneider shakespeare simmons simpson
  sims smith snyder spencer stephens stevens stewart sullivan thompson torres trump tucker turner
  vasquez wagner wallace washington watkins watson weaver wells wheeler wilkinson williams
  williamson wilson wright
`);

/** Surnames that are common words too, with a capital only after a name or a title. */
export const ambiguousSurnames = words(`
  baker banks bell berry bishop black bond brown bush carpenter carter church cole cook cox cross
  day fields ford forest fox gates gold grant green hall hart hayes hill hope hunt hunter jordan king lane
  lee little long love mason mills moon noble page palmer park pearce pierce pope price reed rice
  rivers rock rose ross sharp short singer snow stone strong taylor walker wall ward warren waters
  webb west white wolf wood woods young
`);
