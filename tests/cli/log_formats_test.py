"""What records are read from and written as, and what becomes of bad lines."""

import base64
import json
import os
import struct
import sys

import tap
from cli import CliTest

FIELDS = ["time:timestamp[us]", "f2:f2", "f4:f4", "f8:f8", "i1:i1", "i8:i8", "u8:u8", "ok:bool", "seen:timestamp[s]", "text:bytes[12]"]
HEADER = "time,f2,f4,f8,i1,i8,u8,ok,seen,text"


class FormatTest(CliTest):
    def create(self, *fields, name="log"):
        self.ok("log", "create", name, "--quiet", *(word for field in fields for word in ["--field", field]))
        return name

    def append(self, text, *args, name="log"):
        content = text.encode() if isinstance(text, str) else text
        return self.ok("log", "append", name, *args, stdin=content)

    def query(self, *args, name="log"):
        return self.ok("log", "query", name, "--by-number", *args)

    def values(self, name="log"):
        return [json.loads(line) for line in self.query("--format", "jsonl", name=name).splitlines()]


class RoundTrips(FormatTest):
    ROWS = [
        "0001-01-01T00:00:00.000000Z,6e-08,1e-45,5e-324,0,0,1,true,0001-01-01T00:00:00Z,\" blank \"",
        "1969-12-31T23:59:59.999999Z,-6.55e+04,3.4028235e+38,-1.7976931348623157e+308,127,9223372036854775807,0,false,,\"a,\"\"b\"\"\"",
        "2026-11-24T22:45:02.000001Z,0.1,0.1,0.1,-128,-9223372036854775808,18446744073709551615,true,2026-01-01T00:00:00Z,plain",
        "2026-11-24T22:45:02.500000Z,-0,-0,-0,1,2,3,false,,\"two\nlines\"",
        "2026-11-24T22:45:02.500000Z,1,1e+10,1e+100,1,2,3,false,,\"\t\"",
        "9999-12-31T23:59:59.999999Z,nan,inf,-inf,1,2,3,false,9999-12-31T23:59:59Z,\"\"",
    ]  # fmt: skip

    def setUp(self):
        super().setUp()
        self.create(*FIELDS)
        self.csv = HEADER + "\n" + "\n".join(self.ROWS) + "\n"
        self.append(self.csv)

    def test_csv_is_written_as_it_was_read(self):
        self.assertEqual(self.query().decode(), self.csv)

    def test_what_is_written_reads_the_same_in_every_format(self):
        for form in ["csv", "jsonl", "raw"]:
            with self.subTest(form=form):
                text = self.query("--format", form)
                name = self.create(*FIELDS, name=form)
                self.append(text, "--format", form, name=name)
                self.assertEqual(self.query(name=name).decode(), self.csv)

    def test_json_has_the_types_of_the_fields(self):
        _, second, third, *_, last = self.values()
        self.assertEqual(third, {"time": "2026-11-24T22:45:02.000001Z", "f2": 0.1, "f4": 0.1, "f8": 0.1, "i1": -128, "i8": -(2**63),
                         "u8": 2**64 - 1, "ok": True, "seen": "2026-01-01T00:00:00Z", "text": "plain"})  # fmt: skip
        self.assertEqual((second["seen"], second["text"]), (None, 'a,"b"'))
        self.assertEqual((last["f2"], last["f4"], last["f8"], last["text"]), (None, "inf", "-inf", ""))

    def test_raw_values_of_some_fields(self):
        self.assertEqual(self.query("--format", "raw", "--fields", "i1,f8", "--limit", 1), struct.pack("<bd", 0, 5e-324))

    def test_bytes_that_are_no_text(self):
        content = b"time,text,i1,i8,u8,ok\n9999-12-31T23:59:59.999999Z,\xff\x00\xfe,1,1,1,1\n"
        self.append(content)
        self.assertEqual(self.values()[-1]["text"], {"base64": base64.b64encode(b"\xff\x00\xfe").decode()})
        self.assertEqual(self.query("--fields", "text", "--no-header").splitlines()[-1], b"\xff\x00\xfe")
        copy = self.create(*FIELDS, name="copy")
        self.append(self.query("--format", "jsonl"), "--format", "jsonl", name=copy)
        self.assertEqual(self.query("--format", "raw"), self.query("--format", "raw", name=copy))

    def test_names_that_need_quotes(self):
        fields = ["time:timestamp[s]", 'a"b:f4', "a,b:f4", "a=b <:f4"]
        self.create(*fields, name="names")
        self.append('time,"a""b","a,b",a=b <\n5,1,2,3\n', name="names")
        text = self.query("--fields", '"a,b","a""b"', "--where", '"a=b <" > 2', name="names")
        self.assertEqual(text, b'"a,b","a""b"\n2,1\n')
        self.assertEqual(self.values("names")[0], {"time": "1970-01-01T00:00:05Z", 'a"b': 1, "a,b": 2, "a=b <": 3})


class StrayQuotes(FormatTest):
    """A quote that nobody closes is one bad line."""

    def setUp(self):
        super().setUp()
        self.create("time:timestamp[s]", "n:i4", "room:bytes[4000]")

    def lines(self, count, stray=(), quote='"%s'):
        room = lambda i: quote % "hall" if i in stray else "hall"
        return "time,n,room\n" + "".join(f"2026-01-01T00:{i // 60:02}:{i % 60:02},{i},{room(i)}\n" for i in range(count))

    def numbers(self):
        return [value["n"] for value in self.values()]

    def skip(self, text, *args):
        done = self.run_tool("log", "append", "log", "--bad", "skip", *args, stdin=text.encode())
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def test_in_a_file_takes_no_other_line(self):
        for quote in ('"%s', '%s"', ' "%s'):
            with self.subTest(quote=quote):
                before = len(self.numbers())
                done = self.skip(self.lines(300, stray=(5, 200, 201, 299), quote=quote))
                good = [i for i in range(300) if quote == '%s"' or i not in (5, 200, 201, 299)]
                self.assertEqual(self.numbers()[before:], good)
                self.assertEqual(done.stdout.count(b"4 bad lines"), quote != '%s"')

    def test_in_any_cell_and_after_good_quotes(self):
        text = 'time,n,room\n2026-01-01,1,"hall"\n"2026-01-01,2,hall\n2026-01-01,"3,hall\n2026-01-01,4,"ha""ll"\n2026-01-01,5,hall\n'
        done = self.skip(text)
        self.assertEqual(self.numbers(), [1, 4, 5])
        self.assertIn(b"2 bad lines", done.stdout)
        self.assertIn(b"line 3: ", done.stderr)
        self.assertIn(b"line 4: ", done.stderr)

    def test_texts_keep_their_line_breaks(self):
        self.append('time,n,room\n2026-01-01,1,"a\nb,c\n\nd"\n2026-01-01,2, "x" \n', "--quiet")
        self.assertEqual([value["room"] for value in self.values()], ["a\nb,c\n\nd", "x"])

    def test_in_the_row_of_names_ends_the_command(self):
        self.assertIn("a quote without an end", self.fails(1, "log", "append", "log", "--bad", "skip", stdin=b'time,n,"room\n2026-01-01,1,a\n'))

    def test_in_a_stream_holds_nothing_up(self):
        tool = self.start("log", "append", "log", "--bad", "skip", "--commit-every", "20ms")
        for line in ("time,n,room", '2026-01-01,1,"hall', "2026-01-01,2,hall"):
            tool.stdin.write(line.encode() + b"\n")
            tool.stdin.flush()
        follow = self.start("log", "follow", "log", "--from", "0", "--fields", "n", "--no-header")
        self.assertEqual(follow.stdout.readline(), b"2\n")

    def test_in_line_protocol_takes_no_other_line(self):
        text = "\n".join(['m n=1i,room="open 1', "m n=2i 2", 'm n=3i,room="two\nlines" 3', "m n=4i 4", 'm n=5i,room="open 5']) + "\n"
        done = self.skip(text, "--format", "line")
        self.assertEqual([(value["n"], value["room"]) for value in self.values()], [(2, ""), (3, "two\nlines"), (4, "")])
        self.assertIn(b"2 bad lines", done.stdout)


class NoValues(FormatTest):
    def test_words_that_say_so(self):
        self.create("time:timestamp[s]", "x:f4", "seen:timestamp[s]", "text:bytes[8]", "n:i4")
        words = ["", "NA", "N/A", "null", "NULL", "None", "nan", "NaN", "NaT", "<NA>", "#N/A", " na "]
        self.append("time,x,seen,text,n\n" + "".join(f"2026-01-01,{word},{word},NA,1\n" for word in words), "--quiet")
        self.assertEqual([(value["x"], value["seen"], value["text"]) for value in self.values()], [(None, None, "NA")] * len(words))
        for word in words:
            self.assertIn("'n': no value", self.fails(1, "log", "append", "log", stdin=f"time,x,seen,text,n\n2026-01-01,1,,,{word}\n".encode()))

    def test_blanks_around_cells_do_not_count(self):
        self.create("time:timestamp[s]", "x:f4", "text:bytes[8]", "n:i4", "ok:bool")
        self.append('time , x,\ttext, n ,ok\n 2026-01-01 , 1.5, a b ,\t7 , true\n2026-01-01,2," c ", 8,false \n', "--quiet")
        self.assertEqual([tuple(value.values())[1:] for value in self.values()], [(1.5, "a b", 7, True), (2, " c ", 8, False)])

    def test_whole_decimals_are_integers(self):
        self.create("n:i8", "u:u8")
        for text, value in {"7.0": 7, "1e3": 1000, "+1.5E2": 150, "0.0": 0, "-0.0": 0, "10e-1": 1, "9007199254740993.00": 9007199254740993, "9.223372036854775807e18": 2**63 - 1}.items():
            self.append(f"n,u\n{text},{text}\n", "--quiet")
            self.append(f'{{"n":{text.lstrip("+")},"u":1}}\n', "--format", "jsonl", "--quiet")
            self.assertEqual([row["n"] for row in self.values()[-2:]], [value, value], text)
        for text in ("7.5", "1e-1", "1e30", "-1e19", "9223372036854775808.0", ".", "e5", "1e", "1.0.0", "0x10", "1_000"):
            self.fails(1, "log", "append", "log", stdin=f"n,u\n{text},1\n".encode())


class LineProtocolOfClients(FormatTest):
    def test_a_backslash_is_one_unless_it_escapes(self):
        self.create("time:timestamp[ns]", "a b:bytes[20]", "tag:bytes[20]", "text:bytes[20]", "v:f8")
        for line, tag in ((r"m,tag=east\,west v=1 1", "east,west"), (r"m,tag=a\=b v=1 1", "a=b"), (r"m,tag=C:\dir\ x v=1 1", r"C:\dir x"),
                          (r"m,tag=\\nas\share v=1 1", r"\\nas\share"), (r"m\,x,tag=\n v=1 1", r"\n"), ("m,tag=tab\tx v=1 1", "tab\tx")):
            with self.subTest(line=line):
                self.append(line + "\n", "--format", "line", "--quiet")
                self.assertEqual(self.values()[-1]["tag"], tag)
        self.append(r'm,a\ b=k text="say \"a\\b\" \n",v=2i 1' + "\n", "--format", "line", "--quiet")
        self.assertEqual((self.values()[-1]["a b"], self.values()[-1]["text"]), ("k", r'say "a\b" \n'))
        self.assertIn("without a backslash", self.fails(1, "log", "append", "log", "--format", "line", stdin=b"m,tag=a=b v=1 1\n"))

    def test_a_quote_in_a_name_or_a_tag_begins_no_text(self):
        """Where it began one, the line took the next lines up to the next quote."""
        self.create("time:timestamp[ns]", 'a="b:i8', "tag:bytes[20]", "text:bytes[20]")
        self.append("\n".join([r'm,tag=x\\\ y\="z a\="b=1i,text="p" 1', r'm,tag="q" a\="b=2i,text="two', r'lines \\" 2', r'  m,tag=\="k a\="b=3i 3', '']),
                    "--format", "line", "--quiet")  # fmt: skip
        self.assertEqual([tuple(row.values())[1:] for row in self.values()],
                         [(1, r'x\\ y="z', "p"), (2, '"q"', "two\nlines \\"), (3, '="k', "")])  # fmt: skip


class ZerosAtTheEnd(FormatTest):
    def test_of_texts_are_refused_in_every_format(self):
        """A field of fixed width is padded with zeros: such a text came back shorter."""
        self.create("t:timestamp[s]", "x:f4", "text:bytes[4]", "note:bytes[4]")
        for form, line in (("csv", "t,text\n%s,a\0b\n%s,%s\n"), ("jsonl", '{"t":%s,"text":"a\\u0000b"}\n{"t":%s,"text":"%s"}\n'),
                           ("line", 'm x=1,text="a\0b" %s\nm x=1,text="%s" %s\n'), ("line", "m,text=a\0b x=1 %s\nm,text=%s x=1 %s\n")):  # fmt: skip
            for text in ("\0", "ab\0", "ab\0\0", "abc\0"):
                with self.subTest(form=form, line=line, text=text):
                    text = text.replace("\0", "\\u0000") if form == "jsonl" else text
                    given = (line % ((5, text, 5) if form == "line" else (5, 5, text))).encode()
                    message = self.fails(1, "log", "append", "log", "--format", form, "--time-unit", "s", stdin=given)
                    self.assertRegex(message, f"line {3 if form == 'csv' else 2}: field 'text': a text that ends with a zero")
        given = json.dumps({"t": 1, "text": {"base64": base64.b64encode(b"\xff\0").decode()}}).encode()
        self.assertIn("field 'text': a text that ends with a zero", self.fails(1, "log", "append", "log", "--format", "jsonl", stdin=given))
        self.assertEqual({row["text"] for row in self.values()}, {"a\0b"})


class Times(FormatTest):
    def test_numbers_of_another_unit_are_refused(self):
        self.create("t:timestamp[ms]")
        for number in ("1795514400", "1795514400.5", "1795514400000000", "1795514400000000000", "20261124", "202611241000", "20261124100000"):
            for form, text in (("csv", f"t\n{number}\n"), ("jsonl", f'{{"t":{number}}}\n'), ("jsonl", f'{{"t":"{number}"}}\n')):
                with self.subTest(number=number, form=form):
                    self.assertIn("the unit of numbers with --time-unit", self.fails(1, "log", "append", "log", "--format", form, stdin=text.encode()))
            self.assertIn("the unit of numbers", self.fails(2, "log", "query", "log", "--from", number))
        self.create("t:timestamp[ms]", "v:f4", name="line")
        self.assertIn("the unit of numbers", self.fails(1, "log", "append", "line", "--format", "line", stdin=b"m v=1 1795514400\n"))
        self.append("m v=1 1795514400\n", "--format", "line", "--time-unit", "s", "--quiet", name="line")
        self.assertEqual(self.values("line")[0]["t"], "2026-11-24T10:00:00.000Z")

    def test_digits_of_a_date_are_no_count(self):
        """Longer ones than a day, with a sign or a fraction of zeros, were stored as counts."""
        for unit, counts in (("s", ("2026112410",)), ("ms", ()), ("us", ("2026112410000000",)), ("ns", ("2026112410000000000",))):
            self.create(f"t:timestamp[{unit}]", name=unit)
            for date in ("20261124", "2026112410", "202611241000", "20261124100000", "20261124100000.125", "202611241000001", "2026112410000012",
                         "20261124100000125", "20261124100000125000", "20261124100000125000000", "19000101", "21991231235959"):  # fmt: skip
                for number in (date, f"+{date}", *((f"{date}.0", f"{date}.000") if "." not in date else ())):
                    given = number.strip("+").split(".")[0]
                    if given in counts or (unit == "us" and len(given) == 16):  # which are times of our days
                        continue
                    with self.subTest(unit=unit, number=number):
                        message = self.fails(1, "log", "append", unit, stdin=f"t\n{number}\n".encode())
                        self.assertRegex(message, f"reads as a date and as a count of {unit}")
                        self.assertIn("reads as a date", self.fails(2, "log", "query", unit, "--from", number))
            for number in (*counts, "20261324", "20261124250000", "-20261124", "18991231", "2026112", "20261124.5"):
                self.append(f"t\n{number}\n", "--quiet", name=unit)

    def test_texts(self):
        self.create("t:timestamp[ms]")
        for text, time in {
            "2026-11-24": "2026-11-24T00:00:00.000Z",
            "2026-11-24T22:45": "2026-11-24T22:45:00.000Z",
            "2026-11-24 22:45:02": "2026-11-24T22:45:02.000Z",
            "2026-11-24t22:45:02,125z": "2026-11-24T22:45:02.125Z",
            "2026-11-24T22:45:02.1259999Z": "2026-11-24T22:45:02.125Z",
            "2026-11-24T22:45:02+05:30": "2026-11-24T17:15:02.000Z",
            "2026-11-24T22:45:02 -0800": "2026-11-25T06:45:02.000Z",
            "2024-02-29T24:00": "2024-03-01T00:00:00.000Z",
            "2016-12-31T23:59:60Z": "2017-01-01T00:00:00.000Z",
            "1969-12-31T23:59:59.9999": "1969-12-31T23:59:59.999Z",
            "5": "1970-01-01T00:00:00.005Z",
            "-5": "1969-12-31T23:59:59.995Z",
            "1.75": "1970-01-01T00:00:00.001Z",
            "-1.75": "1969-12-31T23:59:59.998Z",
        }.items():
            with self.subTest(text=text):
                self.append(f'"{text}"\n', "--columns", "t", "--quiet")
                self.assertEqual(self.ok("log", "tail", "log", "-n", 1, "--no-header").decode().strip(), time)

    def test_texts_that_are_none(self):
        self.create("t:timestamp[ns]")
        for text in ["2026-11", "2026-11-24T", "2026-11-24T22", "2026-02-30", "2026-00-01", "2026-01-01T24:00:01",
                     "2026-01-01T00:00:61", "2026-01-01T00:00:00.", "2026-01-01T00:00Zx", "2300-01-01", "1.2.3", "--5",
                     "9223372036854775808", "now"]:  # fmt: skip
            with self.subTest(text=text):
                self.assertIn("line 1: field 't'", self.fails(1, "log", "append", "log", "--columns", "t", stdin=text.encode()))

    def test_units_of_numbers(self):
        self.create("t:timestamp[ms]")
        for unit, number in {"s": "1764024302.5", "ms": "1764024302500", "us": "1764024302500999", "ns": "1764024302500000000"}.items():
            with self.subTest(unit=unit):
                self.append(number, "--columns", "t", "--time-unit", unit, "--quiet")
                self.assertEqual(self.ok("log", "tail", "log", "-n", 1, "--no-header"), b"2025-11-24T22:45:02.500Z\n")

    def test_records_are_stamped(self):
        self.create("t:timestamp[s]", "x:f4")
        self.assertIn("--stamp", self.fails(1, "log", "append", "log", stdin=b"x\n1\n"))
        self.append("x\n1\n", "--stamp")
        self.append("t,x\n,2\n2020-01-01,3\n", "--stamp")
        self.append('{"x":4}\n{"t":null,"x":5}\n', "--stamp", "--format", "jsonl")
        self.append("m x=6\n", "--format", "line")
        values = self.values()
        self.assertEqual([row["x"] for row in values], [1, 3, 2, 4, 5, 6])
        self.assertEqual([row["t"] < "2021" for row in values], [False, True] + [False] * 4)


class Csv(FormatTest):
    def setUp(self):
        super().setUp()
        self.create("t:timestamp[s]", "x:f4", "n:i4", "s:bytes[4]")

    def test_columns_in_any_order_and_missing_ones(self):
        self.append("n,t\n7,5\n")
        self.append("t,x,n,s\n6,,8,\n")
        for row, number in zip(self.values(), [7, 8], strict=True):
            self.assertEqual((row["x"], row["n"], row["s"]), (None, number, ""))

    def test_what_programs_write(self):
        self.append("\ufefft\tx\tn\ts\r\n5\t1\t2\ta b\r\n\r\n6\t1\t2\t\"\"\r\n", "--delimiter", "tab")
        self.append("t;x;n;s\n7;1;2;b", "--delimiter", ";")
        self.assertEqual([row["s"] for row in self.values()], ["a b", "", "b"])

    def test_columns_that_no_field_is_for(self):
        message = self.fails(1, "log", "append", "log", stdin=b"t,x,n,other\n1,2,3,4\n")
        self.assertIn("line 1: no field 'other'; there are t, x, n, s; --ignore-extra", message)
        message = self.fails(1, "log", "append", "log", stdin=b"t;x;n\n1;2;3\n")
        self.assertIn("no field 't;x;n'; --delimiter ';' splits it", message)
        self.append("t,x,n,other\n1,2,3,4\n", "--ignore-extra")
        self.assertEqual(len(self.values()), 1)

    def test_headers_that_cannot_be(self):
        for header in ["t,x", "x,n", "t,n,n", '"t,x']:
            with self.subTest(header=header):
                text = f"{header}\n1,2,3\n".encode()
                self.assertIn("standard input: line", self.fails(1, "log", "append", "log", "--bad", "stop", stdin=text))
                self.assertEqual(self.values(), [])

    def test_bad_lines_stop(self):
        text = b"t,x,n\n1,1,1\n2,2,2\n3,3,three\n4,4,4\n"
        message = self.fails(1, "log", "append", "log", stdin=text)
        self.assertEqual(message, "cairn: log: standard input: line 4: field 'n': 'three' is not a whole number; appended before that: 2 records")
        self.assertEqual([row["n"] for row in self.values()], [1, 2])

    def test_numbers_that_a_float_field_makes_infinite_are_refused(self):
        self.create("t:timestamp[s]", "h:f2", "s:f4", name="floats")
        for line in ("1,65520,0", "1,-1e9,0", "1,0,3.5e38", "1,0,-1e300"):
            self.assertIn("out of range", self.fails(1, "log", "append", "floats", stdin=f"t,h,s\n{line}\n".encode()))
        self.append("t,h,s\n1,65519.9,3.4028235e38\n1,inf,-inf\n", name="floats")
        self.assertEqual([row["h"] for row in self.values("floats")], [65500, "inf"])

    def test_conditions_name_numbers_that_are_out_of_range(self):
        for number in ("1e400", "-1e999", "1e-400"):
            for field in ("x", "n"):
                self.assertIn(f"field '{field}': {number} is out of range", self.fails(2, "log", "query", "log", "--where", f"{field} > {number}"))
        self.assertIn("compared with a number, got '1e'", self.fails(2, "log", "query", "log", "--where", "x > 1e"))

    def test_a_mean_of_infinities_has_no_sign(self):
        self.append("t,x,n\n1,inf,1\n2,-inf,2\n")
        stat = self.ok("log", "stat", "log").decode()
        self.assertRegex(stat, r"x +<f4 +2 +-inf +nan +inf +-inf")
        self.assertNotIn("-nan", stat + self.ok("log", "agg", "log", "--bucket", "1h", "--fields", "x").decode())

    def test_bad_lines_are_skipped_and_counted(self):
        bad = {"1,1": "2 cells, expected 3", "1,1,1,1": "more than 3 cells", "x,1,1": "field 't': 'x' is not a time", ",1,1": "no value",
               "1,1,": "field 'n': no value", "1,1,2147483648": "out of range", "1,1,1.5": "not a whole number", "1,1e,1": "not a number",
               '"1"x,1,1': "text after the end of a quote", '"1,1,1': "a quote without an end"}  # fmt: skip
        text = "t,x,n\n" + "".join(f"{line}\n5,5,{i}\n" for i, line in enumerate(bad))
        self.write("in.csv", text.encode())
        done = self.run_tool("log", "import", "log", "in.csv", "--bad", "skip")
        self.assertEqual(done.returncode, 0)
        self.assertIn(b"log: 10 records appended, 10 bad lines skipped", done.stdout)
        for i, (message, why) in enumerate(zip(done.stderr.decode().splitlines(), bad.values(), strict=True)):
            self.assertIn(f"cairn: in.csv: line {2 * i + 2}: ", message)
            self.assertIn(why, message)
        self.assertEqual([row["n"] for row in self.values()], list(range(10)))

    def test_only_the_first_bad_lines_are_shown(self):
        done = self.run_tool("log", "append", "log", "--bad", "skip", stdin=b"t,x,n\n" + b"bad\n" * 1000)
        self.assertIn(b"1000 bad lines skipped", done.stdout)
        self.assertEqual(len(done.stderr.splitlines()), 11)

    def test_lines_that_are_too_long(self):
        text = b"t,x,n,s\n1,1,1,a\n" + b"x" * (3 << 20) + b"\n2,2,2,b\n" + b'"' + b"y" * (2 << 20) + b"\n3,3,3,c\n"
        done = self.run_tool("log", "append", "log", "--bad", "skip", stdin=text)
        self.assertIn(b"3 records appended, 2 bad lines skipped", done.stdout)
        self.assertEqual([row["n"] for row in self.values()], [1, 2, 3])

    def test_several_files(self):
        for i in range(3):
            self.write(f"{i}.csv", f"t,n\n{i},{i}\n".encode())
        self.ok("log", "import", "log", "2.csv", "0.csv", "1.csv")
        self.assertEqual([row["n"] for row in self.values()], [0, 1, 2])
        self.assertEqual(self.info("log")["journal_size"], 0)
        self.assertIn("none.csv", self.fails(1, "log", "import", "log", "0.csv", "none.csv"))


class JsonLines(FormatTest):
    def setUp(self):
        super().setUp()
        self.create("t:timestamp[s]", "x:f8", "n:i8", "s:bytes[8]")

    def test_what_is_good(self):
        self.write("in.jsonl", b'{"t": 1, "x": 0.1, "n": 9223372036854775807, "s": "\\u00e4"}\n\n'
                   b' {"n": -1, "t": "1970-01-01T00:00:02Z", "x": null}\r\n{"t":3,"n":"5","x":1e400000,"s":"x"}\n')  # fmt: skip
        self.fails(1, "log", "import", "log", "in.jsonl", "--bad", "stop")
        self.assertEqual(self.values(), [{"t": "1970-01-01T00:00:01Z", "x": 0.1, "n": 2**63 - 1, "s": "ä"},
                                         {"t": "1970-01-01T00:00:02Z", "x": None, "n": -1, "s": ""}])  # fmt: skip

    def test_what_is_bad(self):
        bad = {'{"t":1,"n":1,"x":1e400}': "line 1: field 'x': 1e400 is out of range", '{"t":1,"n":1,"x":-1e999}': "field 'x': -1e999 is out of range",
               '{"t":1,"n":1e400}': "field 'n': 1e400 is out of range", '{"t":1,"n":1': "no JSON at byte", "[1]": "expected an object of values, got an array", "5": "no object", '{"t":1,"n":1,"s":{}}': None,
               '{"t":1,"n":1,"s":{"a":1}}': "field 's': expected a number, a text, true, false or null, got an object without 'base64'",
               '{"t":1,"n":1,"s":[]}': "field 's': expected a number, a text, true, false or null, got an array", '{"t":1,"n":1,"n":2}': "two values",
               '{"t":1,"n":1.5}': "not a whole number", '{"t":1,"n":9223372036854775808}': "out of range", '{"n":1}': "no value",
               '{"t":1,"n":1,"s":{"base64":"*"}}': "no base64", '{"t":1,"n":1,"s":{"base64":5}}': "no base64",
               '{"t":1,"n":1,"y":1}': "no field 'y'; there are t", '{"t":1,"n":1} x': "no JSON", '{"t":1,"n":1,"s":"123456789"}': "9 bytes, the field has 8"}  # fmt: skip
        for line, why in bad.items():
            with self.subTest(line=line):
                done = self.run_tool("log", "append", "log", "--format", "jsonl", "--quiet", stdin=line.encode())
                self.assertEqual(done.returncode, 0 if why is None else 1)
                self.assertIn(why or "", done.stderr.decode())


class LineProtocol(FormatTest):
    def setUp(self):
        super().setUp()
        self.create("time:timestamp[us]", "host:bytes[16]", "room:bytes[16]", "temp:f4", "n:i8", "u:u8", "ok:bool", "note:bytes[16]")

    def line(self, text, *args):
        return self.append(text, "--format", "line", "--quiet", *args)

    def test_what_is_good(self):
        self.line('weather,host=a\\ b\\,c\\=d,room=hall temp=20.5,n=-3i,u=7u,ok=T,note="say \\"hi\\", ok" 1764024302500000999\n'
                  "# a comment\n\nweather n=4i,u=1u,ok=false 1764024302500001000\n")  # fmt: skip
        self.assertEqual(self.values(), [
            {"time": "2025-11-24T22:45:02.500000Z", "host": "a b,c=d", "room": "hall", "temp": 20.5, "n": -3, "u": 7, "ok": True, "note": 'say "hi", ok'},
            {"time": "2025-11-24T22:45:02.500001Z", "host": "", "room": "", "temp": None, "n": 4, "u": 1, "ok": False, "note": ""},
        ])  # fmt: skip

    def test_other_measurements_are_left_out(self):
        self.line("cpu load=5 1\nair n=1i,u=1u,ok=t 2\ndisk free=1i\n", "--measurement", "air")
        self.assertEqual([row["n"] for row in self.values()], [1])

    def test_a_unit_of_time(self):
        self.line("air n=1i,u=1u,ok=t 1764024302\n", "--time-unit", "s")
        self.assertEqual(self.values()[0]["time"], "2025-11-24T22:45:02.000000Z")

    def test_what_is_bad(self):
        for line, why in {"air": "no fields", "air ": "no '='", "air n": "no '=' after 'n'", "air n=1i,u=1u,ok=t x": "field 'time'", "air n=1i,u=1u,ok=t 1 2": "after the time",
                          'air note="x': "a quote without an end", "air n=1i,n=2i,u=1u,ok=t 1": "two values", "air n=1i,u=1u 1": "field 'ok': no value",
                          "air other=1 1": "no field 'other'; there are", "air,host n=1i 1": "no '=' after 'host'", "air n=1.5,u=1u,ok=t 1": "not a whole number",
                          "air n=1i,u=-2u,ok=t 1": "field 'u': '-2u' is not a whole number", "air temp=-2u,n=1i,u=1u,ok=t 1": "field 'temp': '-2u' is not a number",
                          "air n=1i,u=-2i,ok=t 1": "field 'u': -2 is out of range", "air n=1i,u=-2,ok=t 1": "field 'u': -2 is out of range",
                          "air temp=1e400,n=1i,u=1u,ok=t 1": "field 'temp': 1e400 is out of range"}.items():  # fmt: skip
            with self.subTest(line=line):
                self.assertIn(why, self.fails(1, "log", "append", "log", "--format", "line", stdin=line.encode()))


class Raw(FormatTest):
    def test_records_as_they_are(self):
        self.create("t:timestamp[s]", "x:f4")
        records = b"".join(struct.pack("<qf", i, i / 4) for i in range(100_000))
        self.write("in", records)
        self.ok("log", "import", "log", "in", "--format", "raw")
        self.assertEqual(self.query("--format", "raw"), records)

    def test_a_part_of_a_record(self):
        self.create("t:timestamp[s]", "x:f4")
        message = self.fails(1, "log", "append", "log", "--format", "raw", stdin=struct.pack("<qfb", 1, 2, 3))
        self.assertIn("ends with 1 bytes of a record of 12; appended before that: 1 record", message)

    def test_a_record_without_a_time(self):
        self.create("t:timestamp[s]")
        content = struct.pack("<3q", 1, -(2**63), 3)
        self.assertIn("line 2: no time", self.fails(1, "log", "append", "log", "--format", "raw", stdin=content))
        done = self.run_tool("log", "append", "log", "--format", "raw", "--bad", "skip", stdin=content)
        self.assertIn(b"2 records appended, 1 bad line skipped", done.stdout)


class Cat(FormatTest):
    """Any frame whose items have a type."""

    def test_records(self):
        self.create("t:timestamp[s]", "x:f4", "s:bytes[3]")
        self.append("t,x,s\n1,0.1,a\n2,0.2,b\n3,0.3,c\n")
        self.assertEqual(self.ok("cat", "log", "--csv", "--first-item", 1, "--items", 1), b"t,x,s\n1970-01-01T00:00:02Z,0.2,b\n")
        self.assertEqual(self.ok("cat", "log", "--json", "--fields", "s,x").splitlines()[2], b'{"s":"c","x":0.3}')
        self.assertIn("2 items from item 2: the frame has 3", self.fails(1, "cat", "log", "--csv", "--first-item", 2, "--items", 2))

    def test_arrays_with_dimensions(self):
        grid = struct.pack("<12h", *range(12))
        self.ok("pack", "-", "grid", "--quiet", "--typesize", 2, "--shape", "3,4", "--chunk-shape", "2,3", "--dtype", "<i2", stdin=grid)
        rows = self.ok("cat", "grid", "--csv").decode().splitlines()
        self.assertEqual(rows, ["i0,i1,value"] + [f"{i // 4},{i % 4},{i}" for i in range(12)])
        self.assertEqual(self.ok("cat", "grid", "--json", "--box", "1:,3"), b'{"i0":1,"i1":3,"value":7}\n{"i0":2,"i1":3,"value":11}\n')
        self.assertEqual(self.ok("cat", "grid", "--csv", "--first-item", 5, "--items", 2), b"i0,i1,value\n1,1,5\n1,2,6\n")

    def test_frames_that_do_not_say_what_their_items_are(self):
        self.pack(struct.pack("<3f", 1, 2.5, -3), "--typesize", 4)
        self.assertIn("--dtype", self.fails(1, "cat", "f.b2frame", "--csv"))
        self.assertEqual(self.ok("cat", "f.b2frame", "--csv", "--dtype", "<f4"), b"value\n1\n2.5\n-3\n")
        self.assertEqual(self.ok("cat", "f.b2frame", "--json", "--dtype", "[('a', '<i2'), ('b', '<u2')]", "--items", 1), b'{"a":0,"b":16256}\n')
        self.fails(2, "cat", "f.b2frame", "--csv", "--dtype", "<f8")
        self.fails(2, "cat", "f.b2frame", "--csv", "--json", "--dtype", "<f4")

    def test_no_more_than_asked_for(self):
        self.pack(bytes(4000), "--typesize", 4)
        self.assertIn("4000 bytes are more", self.fails(1, "cat", "f.b2frame", "--csv", "--dtype", "<f4", "--max-bytes", 3999))


if __name__ == "__main__":
    CliTest.tool = os.path.abspath(sys.argv[1])
    tap.main(__name__)
