#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "control/regulation_views.h"

namespace heddle::control {
namespace {

// A journal may hold what an earlier version wrote in it, and names are what strangers set on their hosts.
TEST(EventsView, BrokenTextDoesNotBreakTheAnswer) {
  journal::Event event;
  event.kind = "override";
  event.links = "a\xff/1 -- b\x1b[2J/2";
  event.text = "a\xff/1: pin";
  const std::string text = boost::json::serialize(events_view({event}, 0));
  boost::system::error_code error;
  const boost::json::value view = boost::json::parse(text, error);
  ASSERT_FALSE(error) << error.message() << ": " << text;
  EXPECT_EQ(view.at("events").at(0).at("links").as_string(), "a?/1 -- b?[2J/2");
  EXPECT_EQ(view.at("events").at(0).at("text").as_string(), "a?/1: pin");
}

}  // namespace
}  // namespace heddle::control
