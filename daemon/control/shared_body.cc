#include "control/shared_body.h"

#include <utility>

namespace heddle::control {

SharedBody::SharedBody(std::vector<Piece> slices, std::shared_ptr<BodyLedger> ledger)
    : ledger_{std::move(ledger)}, count_{slices.size()}, slices_{std::move(slices)} {
  for (const auto& each : slices_) bytes_ += each->size();
  *ledger_ += bytes_;
}

Piece SharedBody::slice(std::size_t i) const {
  const std::lock_guard lock{mutex_};
  return i < slices_.size() ? slices_[i] : nullptr;
}

void SharedBody::withdraw() const {
  std::vector<Piece> slices;
  {
    const std::lock_guard lock{mutex_};
    std::swap(slices, slices_);
  }
  if (!slices.empty()) *ledger_ -= bytes_;
}

BodyWriter::BodyWriter(Encoding encoding) {
  if (encoding == Encoding::Gzip) packer_ = std::make_unique<Packer>();
}
BodyWriter::~BodyWriter() = default;

void BodyWriter::add(Piece slice) {
  if (packer_) return packer_->add(std::move(slice));
  slices_.push_back(std::move(slice));
}

void BodyWriter::write(std::string_view text) {
  slicer_.append(text, [this](Piece slice) { add(std::move(slice)); });
}

bool BodyWriter::write(const SharedBody& body) {
  if (Piece rest = slicer_.rest()) add(std::move(rest));
  for (std::size_t i = 0; i < body.slices(); ++i) {
    Piece slice = body.slice(i);
    if (!slice) return false;
    add(std::move(slice));
  }
  return true;
}

std::shared_ptr<const SharedBody> BodyWriter::finish(std::shared_ptr<BodyLedger> ledger) {
  Piece rest = slicer_.rest();
  if (packer_) {
    slices_ = packer_->finish(rest);
  } else if (rest) {
    slices_.push_back(std::move(rest));
  }
  return std::make_shared<const SharedBody>(std::move(slices_), std::move(ledger));
}

}  // namespace heddle::control
