Gem::Specification.new do |s|
  s.name = "locksim"
  s.version = "0.1.0"
  s.summary = "Runs a lock of a Ruby program under locksim"
  s.authors = ["The locksim authors"]
  s.license = "Apache-2.0"
  s.required_ruby_version = ">= 3.0"
  s.require_paths = ["."]
  s.files = ["locksim.rb"]
end
