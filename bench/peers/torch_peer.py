"""PyTorch, eager, as a peer of heddle-bench: prepares a workload, prints its name, then answers each number N on
standard input with the seconds that N runs took. Prints nothing and ends if there is no PyTorch.

    torch_peer.py WORKLOAD threads=N [key=value]...

For training, an allocator that keeps its memory and huge pages are the fair setting; start heddle-bench with
LD_PRELOAD=libjemalloc.so.2 MALLOC_CONF=thp:always,dirty_decay_ms:-1,muzzy_decay_ms:-1 to give PyTorch both.
"""
import sys
import time
import warnings

warnings.filterwarnings("ignore")

try:
    import torch
except ImportError:
    sys.exit(0)

settings = dict(word.split("=", 1) for word in sys.argv[2:])
torch.set_num_threads(int(settings["threads"]))
dtype = {"f32": torch.float32, "bf16": torch.bfloat16}[settings.get("dtype", "f32")]


def size(name):
    return int(settings[name])


def matmul():
    a, b = torch.randn(size("m"), size("k")).to(dtype), torch.randn(size("k"), size("n")).to(dtype)
    out = torch.empty(size("m"), size("n"), dtype=dtype)
    return lambda: torch.mm(a, b, out=out)


def fashion():
    layers = torch.nn
    net = layers.Sequential(
        layers.Conv2d(1, 32, 5, padding=2), layers.ReLU(), layers.MaxPool2d(2),
        layers.Conv2d(32, 64, 5, padding=2), layers.ReLU(), layers.MaxPool2d(2),
        layers.Flatten(), layers.Linear(3136, 1024), layers.ReLU(), layers.Dropout(0.5), layers.Linear(1024, 10),
    ).to(memory_format=torch.channels_last)
    net.train()
    images = torch.randn(size("batch"), 1, 28, 28).contiguous(memory_format=torch.channels_last)
    labels = torch.randint(10, (size("batch"),))
    optimiser = torch.optim.SGD(net.parameters(), 0.02, momentum=0.9, fused=True)
    loss = layers.CrossEntropyLoss()

    def step():
        optimiser.zero_grad(set_to_none=True)
        loss(net(images), labels).backward()
        optimiser.step()

    return step


def capsule():
    # A strided view of the windows, then one batched product over (window, capsule, pose).
    n, ci, co = size("n"), size("in"), size("out")
    p, w = torch.randn(n, 15, 15, ci, 4, 4), torch.randn(3, 3, ci, co, 4, 4)

    def step():
        windows = p.unfold(1, 3, 2).unfold(2, 3, 2)  # n r c ci i k kr kc
        return torch.einsum("nrcaikuv,uvabkj->nrcbij", windows, w)

    return step



def pointwise():
    a, b = torch.randn(size("n")), torch.randn(size("n"))
    out = torch.empty_like(a)
    return lambda: torch.add(a, b, out=out)


run = {"matmul": matmul, "fashion": fashion, "capsule": capsule, "pointwise": pointwise}[sys.argv[1]]()
for _ in range(2):
    run()
print("torch-" + torch.__version__.split("+")[0], flush=True)
for line in sys.stdin:
    count = int(line)
    begin = time.perf_counter()
    for _ in range(count):
        run()
    print(time.perf_counter() - begin, flush=True)
