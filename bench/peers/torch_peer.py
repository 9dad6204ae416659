"""PyTorch, eager, as a peer of heddle-bench: prepares a workload, prints its name, then answers each number N on
standard input with the seconds that N runs took. Prints nothing and ends if there is no PyTorch.

    torch_peer.py WORKLOAD threads=N [key=value]...

With ranks=N it is N processes, each with a batch of its own, that average gradients over gloo. The name ends with
"+tuned" where jemalloc is preloaded: for training, an allocator that keeps its memory, and huge pages, are the fair
setting.
"""
import sys
import time
import warnings

import peer

warnings.filterwarnings("ignore")

try:
    import torch
except ImportError:
    sys.exit(0)

settings = dict(word.split("=", 1) for word in sys.argv[2:])
ranks = peer.start_ranks(int(settings.get("ranks", 1)))
torch.set_grad_enabled(sys.argv[1] == "fashion" or settings.get("backward") == "1")
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
    if ranks:
        net = layers.parallel.DistributedDataParallel(net, gradient_as_bucket_view=True, static_graph=True)
    optimiser = torch.optim.SGD(net.parameters(), 0.02, momentum=0.9, fused=True)
    loss = layers.CrossEntropyLoss()

    def step():
        optimiser.zero_grad(set_to_none=True)
        loss(net(images), labels).backward()
        optimiser.step()

    return step


def fastest(ways, *operands):
    """The fastest of several implementations on this machine."""
    times = []
    for way in ways:
        way(*operands)
        begin = time.perf_counter()
        way(*operands)
        times.append(time.perf_counter() - begin)
    best = ways[times.index(min(times))]
    return lambda: best(*operands)


def capsule():
    n, ci, co = size("n"), size("in"), size("out")

    def product(p, w):  # one batched product over the unfolded windows
        return torch.einsum("nrcaikuv,uvabkj->nrcbij", p.unfold(1, 3, 2).unfold(2, 3, 2), w)

    def shifted(p, w):  # a product for each place of the window
        return sum(torch.einsum("nrcaik,abkj->nrcbij", p[:, u:u + 13:2, v:v + 13:2], w[u, v])
                   for u in range(3) for v in range(3))

    def convolution(p, w):  # the row of a pose joins the batch, its column the channels
        x = p.permute(0, 4, 1, 2, 3, 5).reshape(n * 4, 15, 15, ci * 4).permute(0, 3, 1, 2)
        f = w.permute(3, 5, 2, 4, 0, 1).reshape(co * 4, ci * 4, 3, 3).contiguous(memory_format=torch.channels_last)
        y = torch.nn.functional.conv2d(x, f, stride=2)
        return y.permute(0, 2, 3, 1).reshape(n, 4, 7, 7, co, 4).permute(0, 2, 3, 4, 1, 5)

    return fastest([product, shifted, convolution], torch.randn(n, 15, 15, ci, 4, 4), torch.randn(3, 3, ci, co, 4, 4))


def routing():
    n, ci, co = size("n"), size("in"), size("out")
    pose, weight = torch.randn(n, 15, 15, ci, 4, 4), torch.randn(3, 3, ci, co, 4, 4)

    def step():
        votes = torch.einsum("nrcaikuv,uvabkj->nrcuvabij", pose.unfold(1, 3, 2).unfold(2, 3, 2), weight)
        share = torch.full(votes.shape[:-2], 1 / co)
        for iteration in range(3):
            mass = share.sum((3, 4, 5), keepdim=True) + 1e-8
            mean = (share[..., None, None] * votes).sum((3, 4, 5), keepdim=True) / mass[..., None, None]
            apart = (votes - mean).square()
            variance = (share[..., None, None] * apart).sum((3, 4, 5), keepdim=True) / mass[..., None, None] + 1e-4
            if iteration == 2:
                return mean
            half = variance.log() / 2
            active = torch.sigmoid((iteration + 1) * (1 - half.sum((-2, -1)) * mass / (9 * ci)))
            share = torch.softmax((active + 1e-8).log() - (apart / (2 * variance) + half).sum((-2, -1)), -1)

    return torch.compile(step) if settings.get("way") == "compiled" else step


def gradients(function, operands):
    """The function, or with backward=1 its gradients by all operands."""
    if settings["backward"] == "0":
        return lambda: function(*operands)
    operands = [operand.requires_grad_() for operand in operands]
    dy = torch.randn(function(*operands).shape)
    return lambda: torch.autograd.grad(function(*operands), operands, dy)


def attention():
    shape = size("batch"), size("heads"), size("length"), size("features")
    return gradients(torch.nn.functional.scaled_dot_product_attention, [torch.randn(shape) for _ in range(3)])


def local_attention():
    n, heads, side, features = size("batch"), size("heads"), size("side"), size("features")
    pad = torch.nn.functional.pad
    outside = pad(torch.zeros(side, side), (3, 3, 3, 3), value=-torch.inf).unfold(0, 7, 1).unfold(1, 7, 1)
    scale = features ** -0.5

    def unfolded(q, k, v, bias):  # images channels first: the windows of keys and values are copied
        around = [torch.nn.functional.unfold(x.reshape(n, heads * features, side, side), 7, padding=3)
                  .view(n, heads, features, 49, side * side) for x in (k, v)]
        scores = torch.einsum("nhfp,nhfwp->nhwp", q.reshape(n, heads, features, -1), around[0]) * scale
        scores = scores + bias.view(heads, 49, 1) + outside.reshape(-1, 49).T
        return torch.einsum("nhwp,nhfwp->nhfp", scores.softmax(2), around[1]).view_as(q)

    def views(q, k, v, bias):  # features last: windows are views, products are batched
        k, v = (pad(x, (0, 0, 3, 3, 3, 3)).unfold(2, 7, 1).unfold(3, 7, 1) for x in (k, v))
        scores = torch.einsum("nhrcf,nhrcfyx->nhrcyx", q, k) * scale + bias[None, :, None, None] + outside
        share = scores.flatten(4).softmax(-1).view_as(scores)
        return torch.einsum("nhrcyx,nhrcfyx->nhrcf", share, v)

    def shifted(q, k, v, bias):  # features last: a pass over the image for each place of the window
        places = [(y, x) for y in range(7) for x in range(7)]
        k, v = (pad(x, (0, 0, 3, 3, 3, 3)) for x in (k, v))
        scores = torch.stack([(q * k[:, :, y:y + side, x:x + side]).sum(-1) * scale for y, x in places])
        scores = scores + bias.permute(1, 2, 0).reshape(49, 1, heads, 1, 1) + outside.reshape(side, side, 49).permute(
            2, 0, 1)[:, None, None]
        share = scores.softmax(0).unsqueeze(-1)
        return sum(share[i] * v[:, :, y:y + side, x:x + side] for i, (y, x) in enumerate(places))

    def of(way, *image):
        operands = [torch.randn(n, heads, *image) for _ in range(3)] + [torch.randn(heads, 7, 7)]
        return gradients(way, operands)

    if settings.get("way") == "compiled":  # the form that torch.compile makes fastest
        return of(torch.compile(shifted), side, side, features)
    ways = [of(unfolded, features, side, side), of(views, side, side, features), of(shifted, side, side, features)]
    return ways[0] if settings.get("way") == "unfold" else fastest(ways)


def pointwise():
    a, b = torch.randn(size("n")), torch.randn(size("n"))
    out = torch.empty_like(a)
    return lambda: torch.add(a, b, out=out)


run = {"matmul": matmul, "fashion": fashion, "capsule": capsule, "routing": routing, "attention": attention,
       "local_attention": local_attention, "pointwise": pointwise}[sys.argv[1]]()
for _ in range(2):
    run()
name = "-".join(filter(None, ["torch", torch.__version__.split("+")[0], settings.get("way")])) + peer.suffix()
peer.answer(run, name) if not ranks else peer.answer_as_rank(run, name.replace("torch", "torch-ddp"))
