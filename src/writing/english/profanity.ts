/**
 * Offensive words in the forms in which they occur most. The table is our own and small: the words
 * that broadcasters bleep, and slurs. Masking is off unless requested.
 */
export const englishProfanity: ReadonlySet<string> = new Set(
  (
    "fuck fucks fucked fucker fuckers fucking motherfucker motherfuckers motherfucking shit shits " +
    "shitty bullshit bitch bitches bitching asshole assholes bastard bastards cunt cunts dick dicks " +
    "dickhead cock cocks cocksucker pussy piss pissed pissing slut sluts whore whores twat twats " +
    "wanker wankers prick pricks goddamn goddamned damn damned dammit nigger niggers nigga faggot " +
    "faggots fag fags retard retards retarded"
  ).split(" "),
);
