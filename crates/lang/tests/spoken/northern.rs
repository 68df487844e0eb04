//! English and the northern languages: a word for every number below a hundred, then scales.

use munshi_types::Language;

struct Words {
    below_hundred: &'static str,
    hundred: &'static str,
    thousand: &'static str,
    lakh: &'static str,
    crore: &'static str,
}

pub(crate) fn say(number: u64, language: Language) -> String {
    let words = words(language);
    if number == 0 {
        return small(&words, 0);
    }
    let mut said: Vec<String> = Vec::new();
    for (scale, name) in [(10_000_000, words.crore), (100_000, words.lakh), (1_000, words.thousand)] {
        let count = if scale == 10_000_000 { number / scale } else { number / scale % 100 };
        if count > 0 {
            said.push(format!("{} {name}", below_thousand(&words, count)));
        }
    }
    let rest = number % 1_000;
    if rest > 0 {
        said.push(below_thousand(&words, rest));
    }
    said.join(" ")
}

fn below_thousand(words: &Words, number: u64) -> String {
    let (hundreds, rest) = (number / 100, number % 100);
    match (hundreds, rest) {
        (0, rest) => small(words, rest),
        (hundreds, 0) => format!("{} {}", small(words, hundreds), words.hundred),
        (hundreds, rest) => format!("{} {} {}", small(words, hundreds), words.hundred, small(words, rest)),
    }
}

fn small(words: &Words, number: u64) -> String {
    let all: Vec<&str> = words.below_hundred.split_whitespace().collect();
    assert_eq!(all.len(), 100, "{:?}", all.first());
    usize::try_from(number)
        .ok()
        .and_then(|at| all.get(at))
        .map_or_else(String::new, |word| word.replace('_', " "))
}

fn words(language: Language) -> Words {
    let (below_hundred, hundred, thousand, lakh, crore) = match language {
        Language::Hindi => (HINDI, "sau", "hazaar", "lakh", "karod"),
        Language::Marathi => (MARATHI, "शे", "हजार", "लाख", "कोटी"),
        Language::Gujarati => (GUJARATI, "so", "hajar", "lakh", "karod"),
        Language::Punjabi => (PUNJABI, "sau", "hazaar", "lakh", "karor"),
        Language::Bengali => (BENGALI, "শো", "হাজার", "লাখ", "কোটি"),
        Language::Odia => (ODIA, "ଶହ", "ହଜାର", "ଲକ୍ଷ", "କୋଟି"),
        _ => (ENGLISH, "hundred", "thousand", "lakh", "crore"),
    };
    Words { below_hundred, hundred, thousand, lakh, crore }
}

const ENGLISH: &str = "zero one two three four five six seven eight nine
ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen
twenty twenty-one twenty-two twenty-three twenty-four twenty-five twenty-six twenty-seven twenty-eight twenty-nine
thirty thirty-one thirty-two thirty-three thirty-four thirty-five thirty-six thirty-seven thirty-eight thirty-nine
forty forty-one forty-two forty-three forty-four forty-five forty-six forty-seven forty-eight forty-nine
fifty fifty_one fifty_two fifty_three fifty_four fifty_five fifty_six fifty_seven fifty_eight fifty_nine
sixty sixty_one sixty_two sixty_three sixty_four sixty_five sixty_six sixty_seven sixty_eight sixty_nine
seventy seventy_one seventy_two seventy_three seventy_four seventy_five seventy_six seventy_seven seventy_eight seventy_nine
eighty eighty_one eighty_two eighty_three eighty_four eighty_five eighty_six eighty_seven eighty_eight eighty_nine
ninety ninety_one ninety_two ninety_three ninety_four ninety_five ninety_six ninety_seven ninety_eight ninety_nine";

const HINDI: &str = "shoonya ek do teen chaar paanch chhah saat aath nau
das gyaarah baarah terah chaudah pandrah solah satrah athaarah unnees
bees ikkees baees teis chaubees pachchees chhabbees sattaees atthaees untees
tees ikattees battees taintees chauntees paintees chhattees saintees adtees untaalees
chaalees iktaalees bayaalees taintaalees chavaalees paintaalees chhiyaalees saintaalees adtaalees unchaas
pachaas ikyaavan baavan tirpan chauvan pachpan chhappan sattaavan atthaavan unsath
saath iksath baasath tirsath chaunsath painsath chhiyaasath sadsath adsath unhattar
sattar ikhattar bahattar tihattar chauhattar pachhattar chhihattar satahattar athahattar unyaasi
assi ikyaasi bayaasi tiraasi chauraasi pachaasi chhiyaasi sattaasi atthaasi navaasi
nabbe ikyaanve baanve tiraanve chauraanve pachaanve chhiyaanve sattaanve atthaanve ninyaanve";

const MARATHI: &str = "शून्य एक दोन तीन चार पाच सहा सात आठ नऊ
दहा अकरा बारा तेरा चौदा पंधरा सोळा सतरा अठरा एकोणीस
वीस एकवीस बावीस तेवीस चोवीस पंचवीस सव्वीस सत्तावीस अठ्ठावीस एकोणतीस
तीस एकतीस बत्तीस तेहतीस चौतीस पस्तीस छत्तीस सदतीस अडतीस एकोणचाळीस
चाळीस एक्केचाळीस बेचाळीस त्रेचाळीस चव्वेचाळीस पंचेचाळीस सेहेचाळीस सत्तेचाळीस अठ्ठेचाळीस एकोणपन्नास
पन्नास एक्कावन्न बावन्न त्रेपन्न चोपन्न पंचावन्न छप्पन्न सत्तावन्न अठ्ठावन्न एकोणसाठ
साठ एकसष्ट बासष्ट त्रेसष्ट चौसष्ट पासष्ट सहासष्ट सदुसष्ट अडुसष्ट एकोणसत्तर
सत्तर एकाहत्तर बाहत्तर त्र्याहत्तर चौऱ्याहत्तर पंच्याहत्तर शहात्तर सत्याहत्तर अठ्याहत्तर एकोणऐंशी
ऐंशी एक्याऐंशी ब्याऐंशी त्र्याऐंशी चौऱ्याऐंशी पंच्याऐंशी शहाऐंशी सत्याऐंशी अठ्याऐंशी एकोणनव्वद
नव्वद एक्याण्णव ब्याण्णव त्र्याण्णव चौऱ्याण्णव पंच्याण्णव शहाण्णव सत्याण्णव अठ्याण्णव नव्याण्णव";

const GUJARATI: &str = "shunya ek be tran chaar paanch chha saat aath nav
das agiyaar baar ter chaud pandar sol sattar adhaar oganis
vees ekvees baavees trevees chovees pachchees chhavvees sattaavees atthaavees ogantrees
trees ektrees batrees tetrees chotrees paantrees chhatrees saadtrees aadtrees oganchaalees
chaalees ektaalees betaalees tretaalees chummaalees pistaalees chhetaalees sudtaalees adtaalees oganpachaas
pachaas ekaavan baavan trepan chopan panchaavan chhappan sattaavan atthaavan ogansaath
saath eksath baasath tresath chosath paansath chhaasath sadsath adsath ogansitter
sitter ekoter boter toter chumoter panchoter chhoter sityoter ithyoter oganaensi
ensi ekyaasi byaasi tyaasi choryaasi panchyaasi chhyaasi satyaasi athyaasi nevyaasi
nevu ekaanu baanu traanu choraanu panchaanu chhannu sattaanu atthaanu navvaanu";

const PUNJABI: &str = "sifar ikk do tinn chaar panj chhe satt atth naun
das giaaran baaraan teraan chaudaan pandraan solaan sataaraan athaaraan unni
veeh ikki baai tei chauvi pachchi chhabbi sataai athaai unatti
teeh ikatti batti teti chaunti painti chhatti sainti athatti untaali
chaali iktaali biaali tartaali chutaali pantaali chhiaali santaali athtaali unanja
panjaah ikvanja bavanja tarvanja charvanja pachvanja chhapanja satvanja athvanja unaahat
satth ikaahath baahath tarehath chaunhath painhath chhiaahath sataahath athaahath unhattar
sattar ikhattar bahattar tihattar chauhattar pachhattar chhihattar satattar athattar unaasi
assi ikaasi biaasi tiraasi chauraasi pachaasi chhiaasi sataasi athaasi unaanve
nabbe ikaanve bianve taraanve churaanve pachaanve chhianve sataanve athaanve nirinve";

const BENGALI: &str = "শূন্য এক দুই তিন চার পাঁচ ছয় সাত আট নয়
দশ এগারো বারো তেরো চৌদ্দ পনেরো ষোলো সতেরো আঠারো উনিশ
কুড়ি একুশ বাইশ তেইশ চব্বিশ পঁচিশ ছাব্বিশ সাতাশ আটাশ উনত্রিশ
ত্রিশ একত্রিশ বত্রিশ তেত্রিশ চৌত্রিশ পঁয়ত্রিশ ছত্রিশ সাঁইত্রিশ আটত্রিশ উনচল্লিশ
চল্লিশ একচল্লিশ বিয়াল্লিশ তেতাল্লিশ চুয়াল্লিশ পঁয়তাল্লিশ ছেচল্লিশ সাতচল্লিশ আটচল্লিশ উনপঞ্চাশ
পঞ্চাশ একান্ন বাহান্ন তিপ্পান্ন চুয়ান্ন পঞ্চান্ন ছাপ্পান্ন সাতান্ন আটান্ন উনষাট
ষাট একষট্টি বাষট্টি তেষট্টি চৌষট্টি পঁয়ষট্টি ছেষট্টি সাতষট্টি আটষট্টি উনসত্তর
সত্তর একাত্তর বাহাত্তর তিয়াত্তর চুয়াত্তর পঁচাত্তর ছিয়াত্তর সাতাত্তর আটাত্তর উনআশি
আশি একাশি বিরাশি তিরাশি চুরাশি পঁচাশি ছিয়াশি সাতাশি অষ্টআশি উননব্বই
নব্বই একানব্বই বিরানব্বই তিরানব্বই চুরানব্বই পঁচানব্বই ছিয়ানব্বই সাতানব্বই আটানব্বই নিরানব্বই";

const ODIA: &str = "ଶୂନ୍ୟ ଏକ ଦୁଇ ତିନି ଚାରି ପାଞ୍ଚ ଛଅ ସାତ ଆଠ ନଅ
ଦଶ ଏଗାର ବାର ତେର ଚଉଦ ପନ୍ଦର ଷୋହଳ ସତର ଅଠର ଊଣେଇଶ
କୋଡ଼ିଏ ଏକୋଇଶି ବାଇଶି ତେଇଶି ଚବିଶି ପଚିଶି ଛବିଶି ସତେଇଶି ଅଠେଇଶି ଅଣତିରିଶି
ତିରିଶି ଏକତିରିଶି ବତିଶି ତେତିଶି ଚଉତିରିଶି ପଞ୍ଚତିରିଶି ଛତିଶି ସଇଁତିରିଶି ଅଠତିରିଶି ଅଣଚାଳିଶି
ଚାଳିଶି ଏକଚାଳିଶି ବୟାଳିଶି ତେୟାଳିଶି ଚଉରାଳିଶି ପଞ୍ଚଚାଳିଶି ଛୟାଳିଶି ସତଚାଳିଶି ଅଠଚାଳିଶି ଅଣଚାଶ
ପଚାଶ ଏକାବନ ବାଉନ ତେପନ ଚଉବନ ପଞ୍ଚାବନ ଛପନ ସତାବନ ଅଠାବନ ଅଣଷଠି
ଷାଠିଏ ଏକଷଠି ବାଷଠି ତେଷଠି ଚଉଷଠି ପଞ୍ଚଷଠି ଛଅଷଠି ସତଷଠି ଅଠଷଠି ଅଣସ୍ତରି
ସତୁରି ଏକସ୍ତରି ବାସ୍ତରି ତେସ୍ତରି ଚଉସ୍ତରି ପଞ୍ଚସ୍ତରି ଛଅସ୍ତରି ସତସ୍ତରି ଅଠସ୍ତରି ଅଣାଅଶି
ଅଶି ଏକାଅଶି ବୟାଅଶି ତେୟାଅଶି ଚଉରାଅଶି ପଞ୍ଚାଅଶି ଛୟାଅଶି ସତାଅଶି ଅଠାଅଶି ଅଣାନବେ
ନବେ ଏକାନବେ ବୟାନବେ ତେୟାନବେ ଚଉରାନବେ ପଞ୍ଚାନବେ ଛୟାନବେ ସତାନବେ ଅଠାନବେ ଅନେଶତ";
