#include "reading/settle_names.h"

namespace lectern::reading {
namespace {

Owners owners_of(std::vector<Owner> list) {
  Owners owners;
  for (Owner& owner : list) owners.put(std::move(owner));
  return owners;
}

Settled kept(const std::string& name, const std::string& stem) {
  return {name, stem, true};
}
Settled fresh(const std::string& name, const std::string& stem) {
  return {name, stem, false};
}

TEST(SettleNames, WhoGetsWhichName) {
  struct Case {
    std::string_view name;
    std::vector<Owner> owners;
    std::vector<Claimant> claimants;
    std::vector<Settled> expected;
    std::set<std::string> same = {};  // owners that the claimant of another path is the same as
  };
  const Case cases[] = {
      {"an empty folder gives what is wanted", {}, {{"a.pdf", "a", "/x/a.pdf"}}, {fresh("a.pdf", "a")}},
      {"the same document again", {{"a.pdf", "a", "/x/a.pdf"}}, {{"a.pdf", "a", "/x/a.pdf"}}, {kept("a.pdf", "a")}},
      {"another folder's document of this name",
       {{"a.pdf", "a", "/x/a.pdf"}},
       {{"a.pdf", "a", "/y/a.pdf"}},
       {fresh("y/a.pdf", "y/a")}},
      {"and again",
       {{"a.pdf", "a", "/x/a.pdf"}, {"y/a.pdf", "y/a", "/y/a.pdf"}},
       {{"a.pdf", "a", "/y/a.pdf"}},
       {kept("y/a.pdf", "y/a")}},
      {"both in one run: who has a name keeps it",
       {{"a.pdf", "a", "/x/a.pdf"}},
       {{"y/a.pdf", "y/a", "/y/a.pdf"}, {"x/a.pdf", "x/a", "/x/a.pdf"}},
       {fresh("y/a.pdf", "y/a"), kept("a.pdf", "a")}},
      {"one that joins takes the longer stem",
       {{"a.pdf", "a", "/x/a.pdf"}},
       {{"a.jpg", "a.jpg", "/x/a.jpg"}, {"a.pdf", "a.pdf", "/x/a.pdf"}},
       {fresh("a.jpg", "a.jpg"), kept("a.pdf", "a")}},
      {"also when it comes alone",
       {{"a.pdf", "a", "/x/a.pdf"}},
       {{"a.jpg", "a", "/x/a.jpg"}},
       {fresh("a.jpg", "a.jpg")}},
      {"both stems are taken",
       {{"a.pdf", "a", "/x/a.pdf"}, {"a.jpg.png", "a.jpg", "/x/a.jpg.png"}},
       {{"a.jpg", "a", "/x/a.jpg"}},
       {fresh("x/a.jpg", "x/a")}},
      {"moved: the same document",
       {{"a.pdf", "a", "/x/a.pdf"}},
       {{"a.pdf", "a", "/z/a.pdf"}},
       {kept("a.pdf", "a")},
       {"a.pdf"}},
      {"moved, and it had a longer name",
       {{"a.pdf", "a", "/p/x/a.pdf"}, {"y/a.pdf", "y/a", "/p/y/a.pdf"}},
       {{"a.pdf", "a", "/q/y/a.pdf"}},
       {kept("y/a.pdf", "y/a")},
       {"y/a.pdf"}},
      {"a copy does not take the name from the document itself",
       {{"a.pdf", "a", "/x/a.pdf"}},
       {{"a.pdf", "a", "/b/a.pdf"}, {"x/a.pdf", "x/a", "/x/a.pdf"}},
       {fresh("b/a.pdf", "b/a"), kept("a.pdf", "a")},
       {"a.pdf"}},
      {"a longer name that somebody wants",
       {{"a.pdf", "a", "/x/a.pdf"}},
       {{"a.pdf", "a", "/q/y/a.pdf"}, {"y/a.pdf", "y/a", "/r/y/a.pdf"}},
       {fresh("q/y/a.pdf", "q/y/a"), fresh("y/a.pdf", "y/a")}},
      {"no longer name is left", {{"a.pdf", "a", "/x/a.pdf"}}, {{"a.pdf", "a", "/a.pdf"}}, {Settled{}}},
      {"standard input", {{"stdin", "stdin", "-"}}, {{"stdin", "stdin", "-"}}, {kept("stdin", "stdin")}},
      {"a file called like it",
       {{"stdin", "stdin", "-"}},
       {{"stdin", "stdin", "/x/stdin"}},
       {fresh("x/stdin", "x/stdin")}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const auto same = [&c](const Owner& owner, std::size_t) { return c.same.contains(owner.document); };
    EXPECT_EQ(settle_names(owners_of(c.owners), c.claimants, same), c.expected);
    const std::vector<Claimant> reversed(c.claimants.rbegin(), c.claimants.rend());
    std::vector<Settled> settled = settle_names(owners_of(c.owners), reversed, same);
    std::ranges::reverse(settled);
    EXPECT_EQ(settled, c.expected) << "the order does not matter";
  }
}

}  // namespace
}  // namespace lectern::reading
