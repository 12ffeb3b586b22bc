/**
 * Sentences with names that a model of everyday English does not expect, for bench/hints.ts. They
 * were written before any setting was tuned. `spoken` spells the name so that flite says it
 * as people do, where the spelling is far from the sound; the hint has it as soundsLike.
 */
export interface NamedSentence {
  readonly text: string;
  readonly names: readonly string[];
  readonly spoken?: string;
}

export const namedSentences: readonly NamedSentence[] = [
  { text: "Please ask Thorbergur to call me back.", names: ["Thorbergur"] },
  { text: "The report was written by Katarzyna Wojcik.", names: ["Katarzyna Wojcik"] },
  { text: "We stayed two nights in Kirkjufell.", names: ["Kirkjufell"] },
  { text: "Doctor Okonkwo will see you now.", names: ["Okonkwo"] },
  { text: "The flight to Egilsstadir was late.", names: ["Egilsstadir"] },
  { text: "Our new office is in Akureyri.", names: ["Akureyri"] },
  { text: "Mister Papadimitriou wants to speak with you.", names: ["Papadimitriou"] },
  { text: "She studied with Professor Bhattacharya.", names: ["Bhattacharya"] },
  { text: "The medicine is called zolmitriptan.", names: ["zolmitriptan"] },
  { text: "Take one tablet of rivaroxaban every day.", names: ["rivaroxaban"] },
  { text: "Turn on Kubernetes before you begin.", names: ["Kubernetes"] },
  { text: "They built the service on Postgres.", names: ["Postgres"] },
  { text: "Gudmundur and Hildur live next to the church.", names: ["Gudmundur", "Hildur"] },
  { text: "I spoke with Ingibjorg this morning.", names: ["Ingibjorg"] },
  { text: "The farm belongs to Sveinbjorn.", names: ["Sveinbjorn"] },
  { text: "We walked from Landmannalaugar to the coast.", names: ["Landmannalaugar"] },
  { text: "Send the invoice to Vilhjalmsson.", names: ["Vilhjalmsson"] },
  { text: "The concert in Harpa begins at eight.", names: ["Harpa"] },
  { text: "Has anyone seen Xiomara today?", names: ["Xiomara"] },
  { text: "Niamh will join the meeting later.", names: ["Niamh"], spoken: "neev" },
  { text: "Her cousin Saoirse moved to Dublin.", names: ["Saoirse"], spoken: "seersha" },
  { text: "The river Jokulsa was high this spring.", names: ["Jokulsa"] },
  { text: "Mount Herdubreid can be seen from here.", names: ["Herdubreid"] },
  { text: "We bought bread at Braud and Co.", names: ["Braud"] },
  { text: "The judge was Sigurbjornsdottir.", names: ["Sigurbjornsdottir"] },
  { text: "A letter from Nkechi arrived on Monday.", names: ["Nkechi"] },
  { text: "Please transfer me to Hafnarfjordur.", names: ["Hafnarfjordur"] },
  { text: "The goalkeeper was Szczesny.", names: ["Szczesny"], spoken: "shchensny" },
  { text: "Ask for Tryggvi at the front desk.", names: ["Tryggvi"] },
  { text: "The company Landsvirkjun sells power.", names: ["Landsvirkjun"] },
];

export const icelandicNamedSentences: readonly NamedSentence[] = [
  { text: "ég ætla að hitta Þorberg í kvöld", names: ["Þorberg"] },
  { text: "við gistum í Landmannalaugum", names: ["Landmannalaugum"] },
  { text: "hringdu í Ragnheiði Skúladóttur", names: ["Ragnheiði Skúladóttur"] },
  { text: "hún vinnur hjá Landsvirkjun", names: ["Landsvirkjun"] },
  { text: "tónleikarnir eru í Hallgrímskirkju", names: ["Hallgrímskirkju"] },
  { text: "hann ók yfir Hellisheiði í gær", names: ["Hellisheiði"] },
  { text: "við gengum á Herðubreið", names: ["Herðubreið"] },
  { text: "bréfið er frá Ósvífri", names: ["Ósvífri"] },
  { text: "þau búa á Kirkjubæjarklaustri", names: ["Kirkjubæjarklaustri"] },
  { text: "talaðu við Vilhjálm á morgun", names: ["Vilhjálm"] },
  { text: "Jökulsárlón er fallegt á vorin", names: ["Jökulsárlón"] },
  { text: "bíllinn er á Egilsstöðum", names: ["Egilsstöðum"] },
  { text: "ljósmóðirin heitir Hólmfríður", names: ["ljósmóðirin", "Hólmfríður"] },
  { text: "hún talaði um kjarnorkuver", names: ["kjarnorkuver"] },
  { text: "Eyjafjallajökull sést héðan", names: ["Eyjafjallajökull"] },
  { text: "Sveinbjörn keypti Súðavíkurhús", names: ["Sveinbjörn", "Súðavíkurhús"] },
  { text: "við förum til Vestmannaeyja", names: ["Vestmannaeyja"] },
  { text: "þetta er Snæfellsjökull", names: ["Snæfellsjökull"] },
  { text: "Ingibjörg er komin heim", names: ["Ingibjörg"] },
  { text: "skipið heitir Þórunn Sveinsdóttir", names: ["Þórunn Sveinsdóttir"] },
  { text: "hann er frá Siglufirði", names: ["Siglufirði"] },
  { text: "opnaðu Kúbernetes fyrst", names: ["Kúbernetes"] },
  { text: "lyfið heitir sólmítriptan", names: ["sólmítriptan"] },
  { text: "Guðmundur og Hildur eru úti", names: ["Guðmundur", "Hildur"] },
  { text: "hún er í Hafnarfirði", names: ["Hafnarfirði"] },
  { text: "spurðu Tryggva um það", names: ["Tryggva"] },
  { text: "við sáum Goðafoss", names: ["Goðafoss"] },
  { text: "fundurinn er í Hörpu", names: ["Hörpu"] },
  { text: "Ásgeir kom frá Dyrhólaey", names: ["Ásgeir", "Dyrhólaey"] },
  { text: "Friðgeir á Bessastöðum", names: ["Friðgeir", "Bessastöðum"] },
];
