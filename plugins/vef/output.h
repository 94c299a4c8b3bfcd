/// The file that is asked for, in a directory that is the user's own.
#pragma once

#include <string>

#include "ledger/log.h"

namespace heddle::vef {

class Output {
 public:
  /// `path`: NAME or DIRECTORY/NAME. Throws std::runtime_error with a sentence.
  explicit Output(const std::string& path);

  /// A file without a name in that directory. Throws std::system_error.
  [[nodiscard]] File nameless() const;
  /// The file under a name that is not in use; only whoever writes it calls this. Throws std::system_error.
  [[nodiscard]] File begin();
  /// Gives the file its own name. Says errno, or 0.
  [[nodiscard]] int end();
  void give_up();
  [[nodiscard]] const std::string& directory() const { return directory_; }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  [[nodiscard]] File make(const std::string& name) const;

  std::string path_;
  std::string directory_;
  std::string name_;
  std::string temporary_;
  File at_;
};

}  // namespace heddle::vef
