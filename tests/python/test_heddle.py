"""The Python package, with HEDDLE, HEDDLE_LIBRARY and SOURCES (the source tree) set by tests/cli/python.sh."""
import array
import ctypes
import os
import struct
import tempfile
import threading
import unittest

import heddle

SOURCES = os.environ["SOURCES"]
SAXPY = os.path.join(SOURCES, "bench/cuda/saxpy.ptx")
SMALL = {"gpu.sm_count": 4}
try:
    import numpy
except ImportError:
    numpy = None


class Memory(unittest.TestCase):
    def setUp(self):
        self.gpu = heddle.open("h200", SMALL)
        self.addCleanup(self.gpu.close)

    def test_new_memory_is_zero(self):
        self.assertEqual(self.gpu.alloc(100).read(), bytes(100))

    def test_data_goes_there_and_back(self):
        for data in (b"some bytes", bytearray(b"more"), memoryview(b"a view"), array.array("d", [1.5, -2])):
            buffer = self.gpu.alloc(data)
            self.assertEqual(buffer.read(), bytes(memoryview(data).cast("B")))
            self.assertEqual(len(buffer), memoryview(data).nbytes)

    def test_parts_are_written_and_read(self):
        buffer = self.gpu.alloc(bytes(range(16)))
        buffer.write(b"\xff\xfe", offset=3)
        self.assertEqual(buffer.read(4, offset=2), b"\x02\xff\xfe\x05")
        into = array.array("H", [0, 0])
        buffer.read_into(into, offset=4)
        self.assertEqual(into.tobytes(), b"\xfe\x05\x06\x07")

    def test_numbers_are_unpacked(self):
        self.assertEqual(self.gpu.alloc(struct.pack("<4i", 1, -2, 3, 4)).unpack("i", offset=4, count=2), [-2, 3])

    def test_fill_and_copy(self):
        a, b = self.gpu.alloc(8), self.gpu.alloc(8)
        a.fill(7)
        a.copy_to(b)
        self.assertEqual(b.read(), bytes([7]) * 8)

    def test_what_is_outside_is_refused(self):
        buffer = self.gpu.alloc(8)
        for wrong in (lambda: buffer.write(bytes(9)), lambda: buffer.read(4, offset=5),
                      lambda: buffer.write(b"x", offset=-1)):
            self.assertRaises(IndexError, wrong)
        self.assertRaises(ValueError, lambda: buffer.read_into(b"constant"))
        self.assertRaises(ValueError, lambda: self.gpu.alloc(0))

    def test_freed_memory_is_refused(self):
        with self.gpu.alloc(8) as buffer:
            address = buffer.address
        stale = heddle.Buffer(self.gpu, address, 8)
        with self.assertRaises(heddle.HeddleError) as caught:
            stale.read()
        self.assertEqual(caught.exception.code, 1)  # cudaErrorInvalidValue

    @unittest.skipUnless(numpy, "no numpy here")
    def test_numpy_arrays(self):
        data = numpy.arange(12, dtype=numpy.float32).reshape(3, 4)
        buffer = self.gpu.alloc(data)
        self.assertTrue((buffer.numpy(numpy.float32, (3, 4)) == data).all())
        self.assertRaises(ValueError, lambda: self.gpu.alloc(data.T))


class Launches(unittest.TestCase):
    def run_saxpy(self, gpu, n, *values):
        module = gpu.load(SAXPY)
        x, y = gpu.alloc(array.array("f", range(n))), gpu.alloc(array.array("f", [1.0]) * n)
        module.launch("saxpy", (n + 63) // 64, 64, *values, x, y)
        return y.unpack("f")

    def test_saxpy(self):
        with heddle.open("h200", SMALL) as gpu:
            self.assertEqual(self.run_saxpy(gpu, 100, 100, 2.0), [2.0 * i + 1 for i in range(100)])
            self.assertEqual(gpu.time_ps, 0)

    def test_arguments_of_other_kinds(self):
        with heddle.open("h200", SMALL) as gpu:
            expected = [0.5 * i + 1 for i in range(64)]
            self.assertEqual(self.run_saxpy(gpu, 64, ctypes.c_uint32(64), heddle.f32(0.5)), expected)
            self.assertEqual(self.run_saxpy(gpu, 64, struct.pack("<I", 64), ctypes.c_float(0.5)), expected)
            if numpy:
                self.assertEqual(self.run_saxpy(gpu, 64, numpy.uint32(64), numpy.float32(0.5)), expected)
            self.assertRaises(TypeError, lambda: self.run_saxpy(gpu, 64, "64", 1.0))

    def test_timing_gives_metrics_in_tables(self):
        with heddle.open("h200", ["gpu.sm_count=4"], timing=True) as gpu:
            self.run_saxpy(gpu, 1000, 1000, 2.0)
            self.run_saxpy(gpu, 200, 200, 2.0)
            table = gpu.launches()
            self.assertGreater(gpu.time_ps, 0)
            self.assertEqual(table.column("kernel"), ["saxpy", "saxpy"])
            self.assertEqual(gpu.metric(-1, "gpc__cycles_elapsed.max"), table[1]["gpc__cycles_elapsed.max"])
            self.assertIn("launch overhead", table[1]["bottleneck"])
            self.assertIsNone(gpu.metric(0, "no.such.metric"))
            self.assertRaises(IndexError, lambda: gpu.metric(2, "x"))

    def test_results_do_not_depend_on_threads(self):
        tables = []
        for threads in (1, 2):
            with heddle.open("h200", SMALL, timing=True, threads=threads) as gpu:
                self.run_saxpy(gpu, 500, 500, 2.0)
                tables.append(gpu.launches())
        self.assertEqual(*tables)

    def test_text_variables_and_wrong_modules(self):
        ptx = """.version 8.0
.target sm_80
.address_size 64
.global .u32 made[4];
.visible .entry make(.param .s32 value, .param .f64 real, .param .u64 to)
{
    .reg .u32 %r<3>; .reg .u64 %rd<4>; .reg .f64 %d<2>;
    mov.u32 %r0, %tid.x;
    ld.param.s32 %r1, [value];
    mad.lo.u32 %r1, %r0, %r1, %r1;
    mul.wide.u32 %rd0, %r0, 4;
    mov.u64 %rd1, made;
    add.u64 %rd1, %rd1, %rd0;
    st.global.u32 [%rd1], %r1;
    ld.param.f64 %d0, [real];
    ld.param.u64 %rd2, [to];
    st.global.f64 [%rd2], %d0;
    ret;
}
"""
        with heddle.open("h200", SMALL) as gpu:
            module = gpu.load_text(ptx, "made.ptx")
            to = gpu.alloc(8)
            module["make"](1, 4, -3, heddle.f64(0.1), to)
            gpu.wait()
            self.assertEqual(module.variable("made", 16).unpack("i"), [-3, -6, -9, -12])
            self.assertEqual(to.unpack("d"), [0.1])
            for wrong in (lambda: module.variable("other", 4), lambda: module["other"](1, 1),
                          lambda: gpu.load_text("no PTX at all", "odd.ptx"),
                          lambda: gpu.load("no/such.ptx"), lambda: module["make"](1, 4096, 0, heddle.f64(0), to)):
                self.assertRaises(heddle.HeddleError, wrong)
            self.assertRaises(ValueError, lambda: module["make"]((1, 1, 1, 1), 1))
            module.unload()

    def test_code_objects_of_amd(self):
        with heddle.open("r9nano", SMALL) as gpu:
            gpu.load(os.path.join(SOURCES, "bench/opencl/saxpy.hsaco"))

    def test_faults_are_told(self):
        with heddle.open("h200", SMALL) as gpu:
            module = gpu.load(SAXPY)
            x = gpu.alloc(16)
            module.launch("saxpy", 1, 64, 64, 1.0, x, x)
            with self.assertRaises(heddle.HeddleError) as caught:
                gpu.wait()
            self.assertEqual(caught.exception.code, 700)  # cudaErrorIllegalAddress
            self.assertIn("saxpy", str(caught.exception))

    def test_listeners(self):
        events = []
        with heddle.open("h200", SMALL, timing=True) as gpu:
            gpu.listen(1 << heddle.KERNEL, lambda event: events.append((event.phase, event.what)))
            self.run_saxpy(gpu, 64, 64, 1.0)
        self.assertEqual([phase for phase, _ in events], [heddle.BEGINS, heddle.ENDS])

    def test_errors_are_of_the_thread(self):
        with heddle.open("h200", SMALL) as gpu:
            texts = []

            def fail(path):
                try:
                    gpu.load(path)
                except heddle.HeddleError as error:
                    texts.append(str(error))
            threads = [threading.Thread(target=fail, args=(f"none{i}.ptx",)) for i in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.assertEqual(sorted(f"none{i}" for i in range(4)), sorted(text.split()[2][:5] for text in texts))

    def test_wrong_systems(self):
        self.assertRaises(heddle.HeddleError, lambda: heddle.open("no-such-system"))
        with self.assertRaises(heddle.HeddleError) as caught:
            heddle.open("h200", {"gpu.sm_coun": 4})
        self.assertIn("did you mean sm_count", str(caught.exception))
        with self.assertRaises(heddle.HeddleError) as caught:
            heddle.open("h200", plugins=["no/such.so"])
        self.assertIn("no/such.so: there is no such file", str(caught.exception))
        gpu = heddle.open("h200", SMALL)
        self.assertEqual(gpu.property("sm_count"), 4)
        gpu.close()
        gpu.close()
        self.assertRaises(heddle.HeddleError, lambda: gpu.devices)


class Commands(unittest.TestCase):
    def test_bench_and_stats(self):
        results = heddle.bench("saxpy", n=1000, settings=SMALL)
        self.assertEqual(results.kernels.column("kernel"), ["saxpy"])
        self.assertGreater(results.time_ps, 0)
        self.assertEqual(results.launches[0]["grid"], "4x1x1")
        self.assertIn("to_device", results.copies.column("kind"))
        other = heddle.bench("saxpy", n=1000, settings={"gpu.sm_count": 1})
        row = heddle.compare(results, other, "gpc__cycles_elapsed.max")[0]
        self.assertEqual(row["ratio"], row["after"] / row["before"])

    def test_replay_of_a_trace(self):
        with tempfile.TemporaryDirectory() as folder:
            trace = os.path.join(folder, "trace")
            timed = heddle.bench("saxpy", n=1000, settings=SMALL)
            heddle.command("bench", "saxpy", "--n", 1000, "--record", trace)
            again = heddle.replay(trace, settings=SMALL)
            name = "smsp__inst_executed.sum"
            self.assertEqual(again.kernels.column(name), timed.kernels.column(name))

    def test_traces_of_accesses(self):
        with tempfile.TemporaryDirectory() as folder:
            heddle.command("trace", "generate", "zipf", "--accesses", 10, "-o", os.path.join(folder, "t"))
            trace = os.path.join(folder, os.listdir(folder)[0])
            self.assertEqual(len(heddle.read_accesses(trace)), 10)
            self.assertEqual(len(heddle.read_accesses(trace, skip=4, accesses=3)), 3)
            self.assertIn("10", heddle.trace_info(trace))

    def test_study(self):
        study = heddle.study("cache-size", quick=True, only=["workload=transpose", "l2=60MiB"])
        self.assertGreaterEqual(len(study.points), 1)
        self.assertIn("heddle", study.data)

    def test_failures_are_raised(self):
        with self.assertRaises(heddle.HeddleError) as caught:
            heddle.bench("saxpi")
        self.assertIn("did you mean saxpy", str(caught.exception))

    def test_doctor(self):
        self.assertIn("libheddle", heddle.doctor().column("name"))

    def test_files_of_others_are_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "x.json")
            for text in ("", "[]", '{"a": 1}', '{"heddle": "0.1.0", "layout": 1, "kernels": []}', '{"heddle": "0'):
                with open(path, "w", encoding="utf-8") as file:
                    file.write(text)
                self.assertRaises(heddle.HeddleError, lambda: heddle.read_stats(path))
            self.assertRaises(heddle.HeddleError, lambda: heddle.read_stats(path + "none"))


class Tables(unittest.TestCase):
    table = heddle.Table([{"a": 1, "b": "x, y"}, {"a": 2.5, "c": None}])

    def test_columns(self):
        self.assertEqual(self.table.columns, ["a", "b", "c"])
        self.assertEqual(self.table.column("b"), ["x, y", None])
        self.assertRaises(KeyError, lambda: self.table.column("d"))
        self.assertEqual(self.table.where(lambda row: row["a"] > 2).select("a"), [{"a": 2.5}])

    def test_csv_there_and_back(self):
        text = self.table.to_csv()
        self.assertEqual(text, 'a,b,c\n1,"x, y",\n2.5,,\n')
        self.assertEqual(heddle.from_csv(text.splitlines()).column("a"), [1, 2.5])


if __name__ == "__main__":
    unittest.main()
