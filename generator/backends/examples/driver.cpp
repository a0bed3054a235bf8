// A driver for opcert: VariadicSplit-1 and Gather-8 in C++17, with the standard library only.
//
//     c++ -std=c++17 -O2 -o driver driver.cpp
//     opcert driver-check ./driver
//     opcert certify --backend 'driver:./driver'
//
// It has three parts: JSON, the protocol, and the operators. To make a driver of your own, copy it and
// write another third part: a function for each operator, its line in `operators`, and `handshake`.

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iostream>
#include <limits>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

// ---------------------------------------------------------------------------------------------- JSON

struct Json {
    enum Kind { null, boolean, integer, real, text, list, object };

    Kind kind = null;
    bool truth = false;
    std::int64_t whole = 0;
    double fraction = 0;
    std::string characters;
    std::vector<Json> items;
    std::vector<std::pair<std::string, Json>> members;

    const Json* find(const std::string& key) const {
        for (const auto& member : members)
            if (member.first == key) return &member.second;
        return nullptr;
    }

    const Json& at(const std::string& key) const {
        if (const Json* member = find(key)) return *member;
        throw std::runtime_error("the message has no '" + key + "'");
    }

    std::int64_t as_integer() const { return of(integer).whole; }
    const std::string& as_text() const { return of(text).characters; }
    const std::vector<Json>& as_list() const { return of(list).items; }

private:
    const Json& of(Kind expected) const {
        if (kind != expected) throw std::runtime_error("a value of the message is of another kind");
        return *this;
    }
};

class Parser {
public:
    explicit Parser(const std::string& line) : next_(line.data()), end_(line.data() + line.size()) {}

    Json parse() {
        Json json = value(0);
        space();
        if (next_ != end_) fail("text after the value");
        return json;
    }

private:
    static constexpr int deepest = 200;
    const char* next_;
    const char* end_;

    [[noreturn]] static void fail(const std::string& why) { throw std::runtime_error("JSON: " + why); }

    void space() {
        while (next_ != end_ && std::strchr(" \t\r\n", *next_) && *next_) ++next_;
    }

    char peek() const { return next_ == end_ ? '\0' : *next_; }

    char take() {
        if (next_ == end_) fail("unexpected end");
        return *next_++;
    }

    bool skip(char expected) {
        space();
        if (peek() != expected) return false;
        ++next_;
        return true;
    }

    void expect(char expected) {
        if (!skip(expected)) fail(std::string("expected ") + expected);
    }

    void word(const char* letters) {
        for (; *letters; ++letters)
            if (take() != *letters) fail("an unknown word");
    }

    Json value(int depth) {
        if (depth > deepest) fail("it is nested too deeply");
        space();
        Json json;
        switch (peek()) {
            case '{':
                json.kind = Json::object;
                members(json, depth);
                break;
            case '[':
                json.kind = Json::list;
                items(json, depth);
                break;
            case '"':
                json.kind = Json::text;
                json.characters = string();
                break;
            case 't':
                word("true");
                json.kind = Json::boolean;
                json.truth = true;
                break;
            case 'f':
                word("false");
                json.kind = Json::boolean;
                break;
            case 'n':
                word("null");
                break;
            default:
                number(json);
        }
        return json;
    }

    void members(Json& json, int depth) {
        expect('{');
        if (skip('}')) return;
        do {
            space();
            std::string key = string();
            expect(':');
            json.members.emplace_back(std::move(key), value(depth + 1));
        } while (skip(','));
        expect('}');
    }

    void items(Json& json, int depth) {
        expect('[');
        if (skip(']')) return;
        do json.items.push_back(value(depth + 1));
        while (skip(','));
        expect(']');
    }

    void number(Json& json) {
        std::string digits;
        while (peek() && std::strchr("+-.0123456789eE", peek())) digits += take();
        if (digits.empty()) fail("expected a value");
        char* end = nullptr;
        errno = 0;
        json.whole = std::strtoll(digits.c_str(), &end, 10);
        json.kind = Json::integer;
        if (*end != '\0' || errno != 0) {
            json.fraction = std::strtod(digits.c_str(), &end);
            json.kind = Json::real;
        }
        if (*end != '\0') fail("not a number: " + digits);
    }

    std::string string() {
        if (take() != '"') fail("expected text");
        std::string result;
        for (char c = take(); c != '"'; c = take()) {
            if (c == '\\')
                escaped(result);
            else
                result += c;
        }
        return result;
    }

    void escaped(std::string& result) {
        static const std::map<char, char> plain = {{'"', '"'},  {'\\', '\\'}, {'/', '/'},  {'b', '\b'},
                                                   {'f', '\f'}, {'n', '\n'},  {'r', '\r'}, {'t', '\t'}};
        const char c = take();
        if (c != 'u') {
            if (!plain.count(c)) fail("an unknown escape");
            result += plain.at(c);
            return;
        }
        std::uint32_t code = four_digits();
        if (code >= 0xD800 && code < 0xDC00) {
            word("\\u");
            code = 0x10000 + ((code - 0xD800) << 10) + (four_digits() - 0xDC00);
        }
        append_utf8(result, code);
    }

    std::uint32_t four_digits() {
        std::uint32_t code = 0;
        for (int i = 0; i < 4; ++i) {
            const char c = take();
            const char* digits = "0123456789abcdef0123456789ABCDEF";
            const char* place = c ? std::strchr(digits, c) : nullptr;
            if (!place) fail("an incomplete escape");
            code = code * 16 + static_cast<std::uint32_t>((place - digits) % 16);
        }
        return code;
    }

    static void append_utf8(std::string& result, std::uint32_t code) {
        if (code < 0x80) {
            result += static_cast<char>(code);
            return;
        }
        const int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
        const int mark[] = {0, 0xC0, 0xE0, 0xF0};
        result += static_cast<char>(static_cast<std::uint32_t>(mark[more]) | (code >> (6 * more)));
        for (int i = more - 1; i >= 0; --i) result += static_cast<char>(0x80 | ((code >> (6 * i)) & 0x3F));
    }
};

std::string quoted(const std::string& text) {
    std::string result = "\"";
    for (const char c : text) {
        char escape[8];
        if (static_cast<unsigned char>(c) < 0x20) {
            std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(c));
            result += escape;
        } else {
            if (c == '"' || c == '\\') result += '\\';
            result += c;
        }
    }
    return result + '"';
}

// ------------------------------------------------------------------------------------------ protocol

using Shape = std::vector<std::int64_t>;

// How many bytes an element takes.
const std::map<std::string, std::int64_t> widths = {
    {"boolean", 1}, {"i4", 1},  {"u4", 1},  {"i8", 1},  {"u8", 1},  {"f8e4m3", 1}, {"f8e5m2", 1}, {"bf16", 2}, {"f16", 2},
    {"i16", 2},     {"u16", 2}, {"f32", 4}, {"i32", 4}, {"u32", 4}, {"f64", 8},    {"i64", 8},    {"u64", 8},
};

struct Tensor {
    std::string type;
    Shape shape;
    std::vector<char> bytes;  // little-endian, in C order

    std::int64_t rank() const { return static_cast<std::int64_t>(shape.size()); }
    std::int64_t width() const { return widths.at(type); }
};

struct Call {
    std::string name;
    std::map<std::string, Tensor> inputs;
    Json attributes;
};

// The call violates a rule of the operator.
struct Rejected : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// The driver lacks the operator or the type.
struct Unsupported : std::runtime_error {
    using std::runtime_error::runtime_error;
};

using Operator = std::function<std::vector<Tensor>(const Call&)>;

extern const std::string handshake;
extern const std::map<std::string, Operator> operators;

void send(const std::string& line) { std::cout << line << '\n'; }

// Read a whole call with its arrays, even if it is not supported.
Call read_call(const Json& message) {
    Call call;
    call.name = message.at("operator").as_text();
    call.attributes = message.at("attributes");
    for (const Json& described : message.at("inputs").as_list()) {
        Tensor tensor;
        tensor.type = described.at("type").as_text();
        for (const Json& extent : described.at("shape").as_list()) tensor.shape.push_back(extent.as_integer());
        tensor.bytes.resize(static_cast<std::size_t>(described.at("bytes").as_integer()));
        std::cin.read(tensor.bytes.data(), static_cast<std::streamsize>(tensor.bytes.size()));
        if (!std::cin) throw std::runtime_error("the input ends within an array");
        call.inputs.emplace(described.at("name").as_text(), std::move(tensor));
    }
    return call;
}

std::vector<Tensor> compute(const Call& call) {
    const auto entry = operators.find(call.name);
    if (entry == operators.end()) throw Unsupported("no operator " + call.name);
    for (const auto& input : call.inputs)
        if (!widths.count(input.second.type)) throw Unsupported("no type " + input.second.type);
    return entry->second(call);
}

void send_outputs(const std::string& id, const std::vector<Tensor>& outputs) {
    std::string line = "{\"id\":" + id + ",\"observed\":\"outputs\",\"outputs\":[";
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        line += std::string(i ? "," : "") + "{\"type\":" + quoted(outputs[i].type) + ",\"shape\":[";
        for (std::size_t axis = 0; axis < outputs[i].shape.size(); ++axis)
            line += (axis ? "," : "") + std::to_string(outputs[i].shape[axis]);
        line += "],\"bytes\":" + std::to_string(outputs[i].bytes.size()) + "}";
    }
    send(line + "]}");
    for (const Tensor& output : outputs)
        std::cout.write(output.bytes.data(), static_cast<std::streamsize>(output.bytes.size()));
}

void send_refusal(const std::string& id, const char* observed, const std::string& reason) {
    send("{\"id\":" + id + ",\"observed\":\"" + observed + "\",\"reason\":" + quoted(reason) + "}");
}

void answer_call(const Json& message) {
    const std::string id = std::to_string(message.at("id").as_integer());
    const Call call = read_call(message);
    try {
        send_outputs(id, compute(call));
    } catch (const Unsupported& error) {
        send_refusal(id, "unsupported", error.what());
    } catch (const std::exception& error) {
        send_refusal(id, "rejected", error.what());
    }
}

// Answer the handshake; return whether calls can follow.
bool accept_handshake(const Json& message) {
    if (message.at("protocol").as_integer() != 1) {
        send("{\"protocol\":1,\"error\":\"this driver implements protocol 1\"}");
    } else if (!message.at("options").members.empty()) {
        const std::string& option = message.at("options").members.front().first;
        send("{\"protocol\":1,\"error\":" + quoted("there is no option '" + option + "'") + "}");
    } else {
        send(handshake);
        return true;
    }
    return false;
}

int main() {
    std::ios::sync_with_stdio(false);
    std::string line;
    try {
        for (bool begun = false; std::getline(std::cin, line); begun = true) {
            const Json message = Parser(line).parse();
            if (!begun && !accept_handshake(message)) return 1;
            if (begun) answer_call(message);
            std::cout.flush();
        }
    } catch (const std::exception& error) {
        std::cerr << error.what() << '\n';
        return 1;
    }
    return 0;
}

// ----------------------------------------------------------------------------------------- operators

// opcert calls only the operators that `support` names.
const std::string handshake =
    "{\"protocol\":1,\"name\":\"cpp-driver\",\"version\":\"1.0\",\"support\":{"
    "\"openvino/VariadicSplit-1\":{\"how\":\"native\"},\"openvino/Gather-8\":{\"how\":\"native\"}}}";

void require(bool holds, const std::string& rule) {
    if (!holds) throw Rejected(rule);
}

// The inputs that an operator has, and no others, in the order of `names`.
std::vector<const Tensor*> inputs_of(const Call& call, const std::vector<std::string>& names) {
    std::vector<const Tensor*> result;
    for (const std::string& name : names) {
        require(call.inputs.count(name) == 1, "the input '" + name + "' is missing");
        result.push_back(&call.inputs.at(name));
    }
    require(call.inputs.size() == names.size(), "there is an input that the operator does not have");
    return result;
}

template <typename Integer>
std::vector<std::int64_t> widened(const std::vector<char>& bytes) {
    std::vector<std::int64_t> result(bytes.size() / sizeof(Integer));
    for (std::size_t i = 0; i < result.size(); ++i) {
        Integer value;
        std::memcpy(&value, bytes.data() + i * sizeof value, sizeof value);
        // A u64 above the greatest i64 is as far out of every range as that.
        constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
        const bool beyond = value > 0 && static_cast<std::uint64_t>(value) > most;
        result[i] = beyond ? std::numeric_limits<std::int64_t>::max() : static_cast<std::int64_t>(value);
    }
    return result;
}

std::vector<std::int64_t> integers(const Tensor& tensor, const std::string& name) {
    static const std::map<std::string, std::vector<std::int64_t> (*)(const std::vector<char>&)> readers = {
        {"i8", widened<std::int8_t>},    {"u8", widened<std::uint8_t>},   {"i16", widened<std::int16_t>},
        {"u16", widened<std::uint16_t>}, {"i32", widened<std::int32_t>},  {"u32", widened<std::uint32_t>},
        {"i64", widened<std::int64_t>},  {"u64", widened<std::uint64_t>},
    };
    const auto reader = readers.find(tensor.type);
    require(reader != readers.end(), name + " is of no integer type");
    return reader->second(tensor.bytes);
}

// The axis that a tensor of one element names, counted from the front.
std::size_t axis_in(const Tensor& axis, std::int64_t rank) {
    const auto values = integers(axis, "axis");
    require(axis.rank() <= 1 && values.size() == 1, "axis is neither a scalar nor of one element");
    require(-rank <= values[0] && values[0] < rank, "axis is beyond the rank of data");
    return static_cast<std::size_t>(values[0] < 0 ? values[0] + rank : values[0]);
}

std::int64_t product(Shape::const_iterator begin, Shape::const_iterator end) {
    std::int64_t result = 1;
    for (; begin != end; ++begin) result *= *begin;
    return result;
}

// A tensor of zeros.
Tensor tensor_of(const std::string& type, const Shape& shape) {
    Tensor result{type, shape, {}};
    result.bytes.resize(static_cast<std::size_t>(product(shape.begin(), shape.end()) * result.width()));
    return result;
}

void copy(Tensor& to, std::int64_t to_byte, const Tensor& from, std::int64_t from_byte, std::int64_t count) {
    if (count > 0) std::memcpy(to.bytes.data() + to_byte, from.bytes.data() + from_byte, static_cast<std::size_t>(count));
}

std::vector<Tensor> variadic_split(const Call& call) {
    const auto inputs = inputs_of(call, {"data", "axis", "split_lengths"});
    require(call.attributes.members.empty(), "the operator has no attributes");
    const Tensor& data = *inputs[0];
    const std::size_t axis = axis_in(*inputs[1], data.rank());
    auto lengths = integers(*inputs[2], "split_lengths");
    require(inputs[2]->rank() == 1, "split_lengths is no list");

    std::int64_t left = data.shape[axis];
    std::int64_t* rest = nullptr;
    for (std::int64_t& length : lengths) {
        require(length >= -1, "a length is below -1");
        require(length != -1 || rest == nullptr, "more than one length is -1");
        if (length == -1) {
            rest = &length;
        } else {
            require(length <= left, "split_lengths are more than the axis has");
            left -= length;
        }
    }
    require(rest != nullptr || left == 0, "split_lengths are less than the axis has");
    if (rest != nullptr) *rest = left;

    const auto split = data.shape.begin() + static_cast<std::ptrdiff_t>(axis);
    const std::int64_t outer = product(data.shape.begin(), split);
    const std::int64_t inner = product(split + 1, data.shape.end()) * data.width();
    std::vector<Tensor> outputs;
    std::int64_t begin = 0;
    for (const std::int64_t length : lengths) {
        Shape shape = data.shape;
        shape[axis] = length;
        Tensor part = tensor_of(data.type, shape);
        for (std::int64_t row = 0; row < outer; ++row)
            copy(part, row * length * inner, data, (row * data.shape[axis] + begin) * inner, length * inner);
        outputs.push_back(std::move(part));
        begin += length;
    }
    return outputs;
}

std::int64_t batch_dims_of(const Call& call, std::int64_t data_rank, std::int64_t indices_rank) {
    std::int64_t batch = 0;
    for (const auto& attribute : call.attributes.members) {
        require(attribute.first == "batch_dims", "there is no attribute '" + attribute.first + "'");
        batch = attribute.second.as_integer();
    }
    const std::int64_t most = std::min(data_rank, indices_rank);
    require(-most <= batch && batch <= most, "batch_dims is beyond the ranks");
    return batch < 0 ? batch + indices_rank : batch;
}

std::vector<Tensor> gather(const Call& call) {
    const auto inputs = inputs_of(call, {"data", "indices", "axis"});
    const Tensor& data = *inputs[0];
    const auto picked = integers(*inputs[1], "indices");
    const Shape& picks = inputs[1]->shape;
    const std::size_t axis = axis_in(*inputs[2], data.rank());
    const auto batch = static_cast<std::size_t>(batch_dims_of(call, data.rank(), inputs[1]->rank()));
    require(batch <= axis, "batch_dims is beyond the axis");
    for (std::size_t i = 0; i < batch; ++i)
        require(data.shape[i] == picks[i], "the batches of data and indices differ");

    const auto offset = [](std::size_t place) { return static_cast<std::ptrdiff_t>(place); };
    const auto batched = data.shape.begin() + offset(batch);
    const auto gathered = data.shape.begin() + offset(axis);
    Shape shape(data.shape.begin(), gathered);
    shape.insert(shape.end(), picks.begin() + offset(batch), picks.end());
    shape.insert(shape.end(), gathered + 1, data.shape.end());
    Tensor output = tensor_of(data.type, shape);

    const std::int64_t extent = data.shape[axis];
    const std::int64_t batches = product(data.shape.begin(), batched);
    const std::int64_t outer = product(batched, gathered);
    const std::int64_t count = product(picks.begin() + offset(batch), picks.end());
    const std::int64_t inner = product(gathered + 1, data.shape.end()) * data.width();
    for (std::int64_t row = 0; row < batches * outer; ++row) {
        for (std::int64_t pick = 0; pick < count; ++pick) {
            const std::int64_t index = picked[static_cast<std::size_t>(row / outer * count + pick)];
            // An index out of range gives zeros, which the output has already.
            if (index < -extent || index >= extent) continue;
            const std::int64_t from = index < 0 ? index + extent : index;
            copy(output, (row * count + pick) * inner, data, (row * extent + from) * inner, inner);
        }
    }
    return {output};
}

const std::map<std::string, Operator> operators = {
    {"openvino/VariadicSplit-1", variadic_split},
    {"openvino/Gather-8", gather},
};
