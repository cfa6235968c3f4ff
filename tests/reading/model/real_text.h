// Text of real kinds of pages that say much the same again and again, and are no loops.
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

namespace lectern::reading {

struct RealText {
  std::string name;
  std::string text;
};

inline std::string times(std::string_view text, int count) {
  std::string out;
  for (int i = 0; i < count; ++i) out += text;
  return out;
}

inline std::string prose() {
  return "The committee met on Tuesday in the small hall and heard the report of the treasurer, who said that the fund "
         "for the new roof stood at a little over four thousand pounds. Mrs Alder asked whether the slates had been "
         "ordered. They had not, because the merchant in Kendal had doubled his price since the spring, and nobody "
         "wished to pay it. It was agreed to write to two other firms and to look at the matter again in September. "
         "The secretary read a letter from the school about the path behind the playing field, which floods in most "
         "winters. The chairman said that he would speak to the drainage board. There being no other business, the "
         "meeting closed at twenty past nine with thanks to the caretaker.\n\n";
}

inline std::string prose_cjk() {
  return "委员会于星期二在小礼堂开会，听取了司库关于新屋顶基金的报告。阿尔德女士询问石板是否已经订购。由于肯德尔的商人"
         "自春天以来"
         "把价格提高了一倍，没有人愿意支付，因此尚未订购。会议决定致函另外两家公司，并在九月再次讨论此事。秘书宣读了学"
         "校关于操场后面"
         "小路的来信，那里冬天经常积水。主席说他将与排水委员会联系。没有其他事项，会议于九点二十分结束。\n\n";
}

inline std::vector<RealText> real_texts() {
  std::vector<RealText> out;
  out.push_back({"prose", times(prose(), 1)});
  out.push_back({"prose in Chinese", prose_cjk()});
  out.push_back({"a form in duplicate", times(prose(), 2)});
  out.push_back({"a Chinese form in duplicate", times(prose_cjk(), 2)});

  std::string table = "| Item | Q1 | Q2 | Q3 | Q4 |\n| --- | --- | --- | --- | --- |\n";
  out.push_back({"a table of empty cells", table + times("|  |  |  |  |  |\n", 70)});
  out.push_back({"a wide table of empty cells", times("|  |  |  |  |  |  |  |  |  |  |  |  |  |  |\n", 60)});
  out.push_back({"a table of zeros", table + times("| 0 | 0 | 0 | 0 | 0 |\n", 70)});
  out.push_back({"a table of N/A", table + times("| N/A | N/A | N/A | N/A | N/A |\n", 45)});
  out.push_back({"a table of equal words", table + times("| Not applicable | Not applicable |\n", 40)});
  out.push_back(
      {"an HTML table of empty cells", "<table>" + times("<tr>" + times("<td></td>", 8) + "</tr>\n", 45) + "</table>"});
  std::string numbered = table;
  for (int i = 1; i <= 45; ++i) numbered += fmt::format("| {} | Compliant | Yes | None |\n", i);
  out.push_back({"a table of numbered equal rows", numbered});
  std::string bank = "| Date | Text | Amount | Balance |\n| --- | --- | --- | --- |\n";
  unsigned seed = 7;
  const auto next = [&] { return (seed = seed * 1664525U + 1013904223U) >> 8U; };
  unsigned balance = 912345;
  for (int i = 0; i < 60; ++i) {
    const unsigned amount = next() % 90000;
    balance += amount;
    bank += fmt::format("| {:02}/{:02}/2024 | CARD PAYMENT AT TERMINAL | {}.{:02} | {}.{:02} |\n", next() % 28 + 1,
                        i / 5 + 1, amount / 100, amount % 100, balance / 100, balance % 100);
  }
  out.push_back({"a bank statement", bank});
  std::string digits;
  for (int i = 0; i < 70; ++i) {
    for (int j = 0; j < 10; ++j) digits += fmt::format("{}.{:03} ", next() % 9, next() % 1000);
    digits += "\n";
  }
  out.push_back({"a table of logarithms", digits});
  std::string binary;
  for (int i = 0; i < 64; ++i) binary += fmt::format("| {} | {:06b} | {:o} | {:x} |\n", i, i, i, i);
  out.push_back({"numbers in four bases", binary});

  std::string contents;
  const char* chapters[] = {"Foundations", "Materials", "Loads on roofs", "Timber", "Joints", "Slates", "Gutters"};
  int page = 1;
  for (int i = 0; i < 56; ++i) {
    page += static_cast<int>(next() % 7) + 1;
    contents += fmt::format("{}.{} {} {} {}\n", i / 7 + 1, i % 7 + 1, chapters[i % 7], times(".", 60), page);
  }
  out.push_back({"a table of contents", contents});
  std::string same_contents;
  for (int i = 1; i <= 30; ++i) same_contents += fmt::format("Chapter {} {} {}\n", i, times(". ", 40), i * 12 + i % 5);
  out.push_back({"contents with bare chapters", same_contents});

  out.push_back({"a rule", prose() + times("-", 400) + "\n" + prose() + times("_", 700) + "\n" + times("=", 300)});
  out.push_back({"blanks to fill in", times("Name: ______________________ Date: ____________\n\n", 28)});
  std::string lines;
  for (int i = 1; i <= 50; ++i) lines += fmt::format("{}. ______________________________________\n", i);
  out.push_back({"numbered blanks", lines});
  std::string answers;
  for (int i = 1; i <= 100; ++i) answers += fmt::format("{}. A B C D\n", i);
  out.push_back({"an answer sheet", answers});
  out.push_back({"entities", "Total" + times("&nbsp;", 120) + "12.00\n" + times("&nbsp;&nbsp; &nbsp;", 60)});
  out.push_back({"N/A in every line", times("N/A\n\n", 60)});
  out.push_back({"N/A in one line", times("N/A ", 90)});
  out.push_back({"yes and no", times("☐ Yes ☐ No\n", 60)});
  std::string rooms;
  for (int i = 101; i <= 180; ++i) rooms += fmt::format("Room {}\n", i);
  out.push_back({"rooms", rooms});
  std::string dates;
  for (int i = 1; i <= 31; ++i) dates += fmt::format("- {} January 2024\n", i);
  out.push_back({"days of a month", dates});
  std::string bates;
  for (int i = 0; i < 60; ++i) bates += fmt::format("ABC-{:07}\n", 18200 + i);
  out.push_back({"Bates numbers", bates});

  std::string poem;
  const char* verses[] = {"The tide came in by the harbour wall", "The gulls went over the tower tall",
                          "The baker opened his blue half door", "The carts went clattering down to the shore"};
  for (int i = 0; i < 12; ++i) {
    poem += fmt::format("{},\n  Heave away, my lads, heave away,\n{},\n  And we're bound for the southern bay.\n\n",
                        verses[i % 4], verses[(i + 1 + i / 4) % 4]);
  }
  out.push_back({"a shanty with a refrain", poem});
  out.push_back({"a chorus", times("Na na na na, na na na na, hey hey hey, goodbye\n", 10)});

  std::string books;
  for (int i = 0; i < 40; ++i) {
    books += fmt::format("- Alder, M., and Birk, J. ({}). *Proceedings of the Kendal Society*, vol. {}, pp. {}-{}.\n",
                         1950 + next() % 60, next() % 40, 100 + next() % 300, 500 + next() % 300);
  }
  out.push_back({"a bibliography", books});
  std::string law;
  const char* parties[] = {"Lessee", "Lessor", "Guarantor", "Agent", "Trustee", "Surveyor"};
  for (int i = 1; i <= 18; ++i) {
    law += fmt::format(
        "{}. The {} shall not, without the prior written consent of the {}, assign, underlet or part "
        "with possession of the premises or any part of them.\n\n",
        i, parties[i % 6], parties[(i + 1 + i / 6) % 6]);
  }
  out.push_back({"a lease", law});
  std::string code = "```cpp\n";
  for (int i = 0; i < 30; ++i) {
    code += fmt::format("        case {}:\n            value_{} = read(input);\n            break;\n", i * i % 97,
                        i * 7 % 31);
  }
  out.push_back({"code", code + "```\n"});
  out.push_back({"deep indentation", times("\n" + std::string(60, ' ') + "}", 12) + times("        }\n", 20)});
  std::string art;
  for (int i = 0; i < 30; ++i)
    art += "|" + std::string(static_cast<std::size_t>(30 - i), ' ') + times("/\\", i) + "|\n";
  out.push_back({"a drawing of characters", art + times("+--------+--------+\n|        |        |\n", 14)});
  out.push_back({"music in letters", times("e|---0---2---3---|\nB|---1---1---1---|\n", 12)});
  std::string index;
  for (int i = 0; i < 90; ++i) index += fmt::format("slates, {}, {}\n", next() % 300, next() % 300);
  out.push_back({"an index", index});
  std::string hex;
  for (int i = 0; i < 48; ++i) hex += fmt::format("{:08x}  00 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00\n", i * 16);
  out.push_back({"a hex dump of zeros", hex});
  out.push_back(
      {"a matrix", "$$\\begin{pmatrix}" + times("0 & 0 & 0 & 0 & 0 & 0 & 0 & 0 \\\\\n", 24) + "\\end{pmatrix}$$"});
  return out;
}

}  // namespace lectern::reading
