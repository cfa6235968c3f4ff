#include "reading/model/refusal.h"

#include <algorithm>
#include <array>
#include <string>

#include "reading/model/text_pieces.h"

namespace lectern::reading {
namespace {

using namespace std::string_view_literals;

constexpr std::size_t bytes_max = 500;

// How a refusal begins, and what it speaks of: both are needed, because letters are sorry too.
constexpr std::array beginnings = {"i'm sorry"sv,
                                   "i am sorry"sv,
                                   "sorry,"sv,
                                   "i apologize"sv,
                                   "i can't"sv,
                                   "i cannot"sv,
                                   "i can not"sv,
                                   "i'm unable"sv,
                                   "i am unable"sv,
                                   "i'm not able"sv,
                                   "i am not able"sv,
                                   "unfortunately, i"sv,
                                   "as an ai"sv,
                                   "i don't see"sv,
                                   "i do not see"sv,
                                   "it seems that no image"sv,
                                   "no image"sv,
                                   "please provide"sv,
                                   "i won't be able"sv,
                                   "desculpe"sv,
                                   "lamento"sv,
                                   "sinto muito"sv,
                                   "não posso"sv,
                                   "não consigo"sv,
                                   "infelizmente"sv,
                                   "como uma ia"sv,
                                   "lo siento"sv,
                                   "no puedo"sv,
                                   "je suis désolé"sv,
                                   "désolé"sv,
                                   "je ne peux"sv,
                                   "es tut mir leid"sv,
                                   "ich kann"sv,
                                   "entschuldigung"sv,
                                   "mi dispiace"sv,
                                   "non posso"sv,
                                   "извините"sv,
                                   "Извините"sv,
                                   "к сожалению"sv,
                                   "К сожалению"sv,
                                   "抱歉"sv,
                                   "很抱歉"sv,
                                   "对不起"sv,
                                   "我无法"sv,
                                   "申し訳"sv,
                                   "すみません"sv,
                                   "죄송"sv};
constexpr std::array subjects = {
    "assist"sv,     "help with"sv,    "transcri"sv,      "the image"sv,    "an image"sv,     "any image"sv,
    "this image"sv, "the document"sv, "this document"sv, "this request"sv, "your request"sv, "process"sv,
    "comply"sv,     "provide the"sv,  "provide that"sv,  "extract"sv,      "view "sv,        "ajudar"sv,
    "imagem"sv,     "transcrever"sv,  "processar"sv,     "ayudar"sv,       "imagen"sv,       "aider"sv,
    "l'image"sv,    "traiter"sv,      "helfen"sv,        "bild"sv,         "aiutar"sv,       "immagine"sv,
    "помочь"sv,     "изображени"sv,   "не могу"sv,       "无法"sv,         "不能"sv,         "图"sv,
    "できません"sv, "できかね"sv,     "画像"sv,          "수 없"sv,        "이미지"sv};

}  // namespace

bool is_refusal(std::string_view text) {
  std::string said = lower(trimmed(text));
  if (said.empty() || said.size() > bytes_max) return false;
  for (std::size_t at = said.find("’"); at != std::string::npos; at = said.find("’")) said.replace(at, 3, "'");
  const auto begins = [&](std::string_view words) { return said.starts_with(words); };
  const auto contains = [&](std::string_view words) { return said.find(words) != std::string::npos; };
  return std::ranges::any_of(beginnings, begins) && std::ranges::any_of(subjects, contains);
}

}  // namespace lectern::reading
