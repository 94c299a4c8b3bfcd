#include "base/printable.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <string>

namespace heddle {
namespace {

using namespace std::string_literals;

TEST(Printable, LeavesTextAlone) {
  EXPECT_EQ(printable("MF0;ib5:SX6036/U1"), "MF0;ib5:SX6036/U1");
  EXPECT_EQ(printable("Knoten-Süd-7 ☃ 𝄞"), "Knoten-Süd-7 ☃ 𝄞");
}

TEST(Printable, TakesTheStingOutOfControlSequences) {
  EXPECT_EQ(printable("\x1b[2Jhost\r\n\t"), "?[2Jhost???");
  EXPECT_EQ(printable("a\xc2\x9b"
                      "31mb"),
            "a?31mb");                                      // CSI as one C1 character
  EXPECT_EQ(printable("txt\u202egpj.exe"), "txt?gpj.exe");  // right-to-left override
}

// Two names that differ in these would look alike.
TEST(Printable, ShowsWhatNobodyWouldSee) {
  for (const char* hidden :
       {"\u200b", "\u200c", "\u200d", "\u2060", "\u2062", "\ufeff", "\u00ad",     "\u034f",
        "\u061c", "\u115f", "\u180e", "\u3164", "\uffa0", "\ufe0f", "\U000e0041", "\U000e0100",
        "\u2028", "\u00a0", "\u2003", "\u202f", "\u3000", "\u2800", "\ufff9"})
    EXPECT_EQ(printable("leaf"s + hidden + "-1"), "leaf?-1");
  EXPECT_EQ(printable("\u00a1\u00ae\u2010\u2030\u2070\u2801\u3001\ufffd"),
            "\u00a1\u00ae\u2010\u2030\u2070\u2801\u3001\ufffd");
}

TEST(Printable, ReplacesWhatIsNoUtf8) {
  EXPECT_EQ(printable("\xff\xfe"), "??");
  EXPECT_EQ(printable("\xc3"), "?");                 // half a character
  EXPECT_EQ(printable("\xc0\xaf"), "??");            // overlong
  EXPECT_EQ(printable("\xe0\x80\xaf"), "???");       // overlong
  EXPECT_EQ(printable("\xed\xa0\x80"), "???");       // surrogate
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "????");  // beyond U+10FFFF
}

TEST(Printable, DropsThePaddingOfANodeDescription) {
  EXPECT_EQ(printable("host\0\0\0"s), "host");
  EXPECT_EQ(printable("a\0b\0"s), "a?b");
  EXPECT_EQ(printable(""), "");
}

RC_GTEST_PROP(Printable, IsPrintableAndStaysSo, (const std::string& bytes)) {
  const std::string text = printable(bytes);
  RC_ASSERT(printable(text) == text);
  for (const char c : text) RC_ASSERT(c != '\n' && c != '\x1b' && c != '\0');
}

TEST(Quoted, CutsBetweenCharacters) {
  EXPECT_EQ(in_quotes("abc"), "\"abc\"");
  EXPECT_EQ(in_quotes("äöü", 2), "\"äö...\"");
  EXPECT_EQ(in_quotes("äöü", 3), "\"äöü\"");
}

}  // namespace
}  // namespace heddle
