/* Numbers for people. */
const numbers = (() => {
    const whole = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });

    /* Three digits or more that matter, without needless zeros. */
    function plain(value) {
        if (value === null || value === undefined || Number.isNaN(value)) return "\u2013";
        if (Number.isInteger(value)) return whole.format(value);
        const size = Math.abs(value);
        if (size >= 1000) return whole.format(value);
        if (size >= 100) return value.toFixed(0);
        if (size >= 10) return value.toFixed(1);
        if (size >= 0.01 || size === 0) return value.toFixed(2);
        return value.toExponential(1);
    }

    function scaled(value, step, units) {
        let at = 0;
        while (Math.abs(value) >= step * 0.9995 && at + 1 < units.length) {
            value /= step;
            at++;
        }
        return [at ? plain(value) : plain(Math.round(value * 1000) / 1000), units[at]];
    }

    const scales = {
        byte: [1000, ["B", "kB", "MB", "GB", "TB", "PB"]],
        "byte/s": [1000, ["B/s", "kB/s", "MB/s", "GB/s", "TB/s"]],
        ns: [1000, ["ns", "\u00b5s", "ms", "s"]],
        ps: [1000, ["ps", "ns", "\u00b5s", "ms", "s"]],
        Hz: [1000, ["Hz", "kHz", "MHz", "GHz"]],
        "FLOP/s": [1000, ["FLOP/s", "kFLOP/s", "MFLOP/s", "GFLOP/s", "TFLOP/s", "PFLOP/s"]],
        FLOP: [1000, ["FLOP", "kFLOP", "MFLOP", "GFLOP", "TFLOP", "PFLOP"]],
    };

    /* [text, unit] */
    function withUnit(value, unit) {
        if (value === null || value === undefined) return ["\u2013", ""];
        if (scales[unit]) return scaled(value, ...scales[unit]);
        if (unit === "%") return [value.toFixed(Math.abs(value) >= 99.95 ? 0 : 1), "%"];
        if (Number.isInteger(value) && Math.abs(value) >= 1e7) {
            const [text, prefix] = scaled(value, 1000, ["", "k", "M", "G", "T", "P"]);
            return [text, (prefix + " " + unit).trim()];
        }
        return [plain(value), unit || ""];
    }

    const text = (value, unit) => withUnit(value, unit).join("\u00a0").trim();

    /* "1980MHz", "4814GB/s", "256KiB" and numbers as descriptions have them. */
    function parse(written) {
        if (typeof written === "number") return written;
        const found = /^([0-9.]+)\s*([A-Za-z/]*)$/.exec(String(written));
        if (!found) return NaN;
        const prefixes = { K: 1e3, k: 1e3, M: 1e6, G: 1e9, T: 1e12, Ki: 1024, Mi: 1048576, Gi: 1073741824 };
        const prefix = /^(Ki|Mi|Gi|[KkMGT])(?=B|Hz)/.exec(found[2]);
        return Number(found[1]) * (prefix ? prefixes[prefix[1]] : 1);
    }

    return { plain, text, withUnit, parse };
})();
