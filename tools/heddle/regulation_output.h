/// What the regulation's answers look like to people.
#pragma once

#include <boost/json/value.hpp>

#include "heddle/command.h"

namespace heddle::cli {

void print_regulation(const boost::json::value& answer, Context& context);
void print_plan(const boost::json::value& answer, Context& context);
void print_power_links(const boost::json::value& answer, Context& context);
void print_energy(const boost::json::value& answer, Context& context);
/// A line each, without a title, so that more can follow.
void print_events(const boost::json::value& answer, Context& context);

}  // namespace heddle::cli
