/**
 * Offensive words in the forms in which they occur most. The table is our own and small: curses of
 * the devil and of hell, vulgar words for the body, and slurs. Masking is off unless requested.
 */
export const icelandicProfanity: ReadonlySet<string> = new Set(
  (
    "andskotinn andskotans andskotanum andskoti andskota helvíti helvítis helvítið djöfull djöfulinn " +
    "djöfulsins djöfuls djöfullinn djöfulli fjandinn fjandans fjandanum fokk fokking fokkaðu fokka " +
    "skítur skítinn skíts skítnum drullusokkur drullusokkar hóra hóru hórur tussa tussu tussur " +
    "kunta kuntu kuntur píka píku píkur rassgat rassgati rassgats fáviti fávita fávitar hálfviti " +
    "hálfvita hálfvitar fífl fíflið aumingi aumingja tík tíkin tíkur mella mellu mellur " +
    "andskotast djöfulgangur"
  ).split(" "),
);
