/// Reads or writes fields of a MAD through libibmad's table of them, so that one list of fields per attribute
/// serves both directions. Only for the .cc files of mad/.
#pragma once

#include <infiniband/mad.h>

#include <type_traits>

#include "base/ids.h"

namespace heddle::mad {

template <class T>
concept FieldId = requires(T id) {
  typename T::rep;
  id.raw();
};

/// `io(FIELD, member)` for every field of an attribute that starts at byte 0 of `data`.
class FieldReader {
 public:
  // libibmad takes pointers to non-const for reading as well.
  explicit FieldReader(const std::uint8_t* data) : data_{const_cast<std::uint8_t*>(data)} {}

  template <class T>
  void operator()(MAD_FIELDS field, T& value) const {
    if constexpr (FieldId<T>) {
      value = T{static_cast<typename T::rep>(get<typename T::rep>(field))};
    } else {
      value = static_cast<T>(get<T>(field));
    }
  }
  template <class T>
  void operator()(MAD_FIELDS first, T& array, std::size_t count) const {
    for (std::size_t i = 0; i < count; ++i) (*this)(static_cast<MAD_FIELDS>(first + i), array[i]);
  }

 private:
  template <class Rep>
  [[nodiscard]] auto get(MAD_FIELDS field) const {
    if constexpr (sizeof(Rep) == 8) {
      return mad_get_field64(data_, 0, field);
    } else {
      return mad_get_field(data_, 0, field);
    }
  }

  std::uint8_t* data_;
};

class FieldWriter {
 public:
  explicit FieldWriter(std::uint8_t* data) : data_{data} {}

  template <class T>
  void operator()(MAD_FIELDS field, const T& value) const {
    if constexpr (FieldId<T>) {
      set(field, value.raw());
    } else {
      set(field, value);
    }
  }
  template <class T>
  void operator()(MAD_FIELDS first, const T& array, std::size_t count) const {
    for (std::size_t i = 0; i < count; ++i) (*this)(static_cast<MAD_FIELDS>(first + i), array[i]);
  }

 private:
  template <class Rep>
  void set(MAD_FIELDS field, Rep value) const {
    if constexpr (sizeof(Rep) == 8) {
      mad_set_field64(data_, 0, field, static_cast<std::uint64_t>(value));
    } else {
      mad_set_field(data_, 0, field, static_cast<std::uint32_t>(value));
    }
  }

  std::uint8_t* data_;
};

}  // namespace heddle::mad
